"""Options that several commands of `refdesk eval` take."""

from typing import Annotated

import typer

DataSource = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="SOURCE",
        help="A folder in the BEIR layout, a question file, or a file of SQuAD, see docs/evaluation-data.md.",
    ),
]
Split = Annotated[
    str, typer.Option("--split", metavar="NAME", help="Which part of the data, where it has several.")
]
Into = Annotated[
    str | None,
    typer.Option(
        "--collection",
        "-c",
        metavar="NAME",
        help="Collection that is asked, else eval-DATA where data brings documents, else the settings' one.",
    ),
]
Sample = Annotated[
    int | None, typer.Option("--sample", min=1, metavar="N", help="Ask only N questions, drawn by chance.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of what is drawn.", show_default=True)]
Plot = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Draw a picture: .png, .svg or .pdf.")
]
LLMString = Annotated[
    str | None,
    typer.Option("--llm", metavar="MODEL", help="Model string for pipelines, else the settings' one."),
]
