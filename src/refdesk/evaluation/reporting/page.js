"use strict";
// Sorts, filters and opens the cases. Without it the page is whole, in the order of the cases.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const key = (row, column) => {
    const cell = row.cells[column];
    const shown = cell?.dataset.key ?? cell?.textContent.trim() ?? "";
    const text = shown === "–" ? "" : shown;
    const number = Number(text);
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b, direction) => {
    if (a === "" || b === "") return (a === "") - (b === ""); // what is missing is last either way
    if (typeof a === "number" && typeof b === "number") return (a - b) * direction;
    return String(a).localeCompare(String(b), undefined, { numeric: true }) * direction;
  };
  const sort = (table, column, direction) => {
    const grouped = table.classList.contains("cases");
    const parent = grouped ? table : table.tBodies[0];
    const items = grouped ? [...table.tBodies] : [...parent.rows];
    const first = (item) => (grouped ? item.rows[0] : item);
    const order = (a, b) => compare(key(first(a), column), key(first(b), column), direction);
    items.sort(order).forEach((item) => parent.append(item));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...([...table.tHead.rows].at(-1).cells)];
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table, column, up ? 1 : -1);
      });
    });
  }

  const show = (group, open) => {
    const details = group.querySelector(".more details");
    details.open = open;
    group.classList.toggle("opened", open);
    group.querySelector("button.toggle").setAttribute("aria-expanded", String(open));
  };
  for (const group of document.querySelectorAll("table.cases > tbody")) {
    const head = group.rows[0].cells[0];
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toggle";
    button.setAttribute("aria-controls", group.rows[1].id = `${group.id}-more`);
    button.append(...head.childNodes);
    head.append(button);
    show(group, false);
    group.rows[0].addEventListener("click", (event) => {
      if (String(getSelection()) && !event.target.closest("button")) return;
      show(group, !group.classList.contains("opened"));
    });
  }

  for (const form of document.querySelectorAll("form.controls")) {
    const groups = [...document.getElementById(form.dataset.for).tBodies];
    const filters = [...form.querySelectorAll("[data-filter]")];
    const output = form.querySelector("output");
    const matches = (group, filter) => {
      if (!filter.value) return true;
      if (filter.dataset.filter === "text") {
        return group.textContent.toLowerCase().includes(filter.value.toLowerCase());
      }
      return (group.dataset[filter.dataset.filter] ?? "").split(" ").includes(filter.value);
    };
    const apply = () => {
      let count = 0;
      for (const group of groups) {
        group.hidden = !filters.every((filter) => matches(group, filter));
        count += group.hidden ? 0 : 1;
      }
      output.textContent = `${count} of ${groups.length} cases`;
    };
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
      const open = button.dataset.do === "open";
      groups.filter((group) => !open || !group.hidden).forEach((group) => show(group, open));
    }));
    apply();
  }

  const follow = () => {
    const group = document.getElementById(location.hash.slice(1));
    if (group?.matches("table.cases > tbody")) show(group, true);
  };
  addEventListener("hashchange", follow);
  follow();
})();
