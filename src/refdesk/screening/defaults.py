"""The rules that apply where none are given: they refuse what is too long, and flag what may be a trick."""

from refdesk.screening.rules import Rule

LONGEST = 8000
"""Characters of a question."""

_OVERRIDES = (
    r"\b(?:ignor(?:e|ing)|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules|guidelines|prompts?)\b",
    r"\b(?:ignorier|vergiss|vergesst|missachte|umgeh)\w*\b.{0,40}\b(?:anweisung|regel|vorgabe|instruktion)\w*",
    r"\b(?:ignore[zr]?|oublie[zr]?|contourne[zr]?)\b.{0,40}\b(?:instructions?|consignes?|règles?)\b",
    r"\b(?:ignor|olvid)[aeáé]\w*\b.{0,40}\b(?:instrucci|regla|indicaci)\w+",
    r"\b(?:ignor|dimentic)\w+\b.{0,40}\b(?:istruzion|regol)\w+",
    r"\b(?:ignor|esqueç)\w+\b.{0,40}\b(?:instruç|regra)\w+",
    r"\b(?:negeer|vergeet)\b.{0,40}\b(?:instructies?|regels?|aanwijzingen)\b",
    r"\b(?:zignoruj|zapomnij)\w*\b.{0,40}\b(?:instrukcj|polece|zasad)\w+",
    r"\b(?:игнорируй|забудь|проигнорируй)\w*.{0,40}(?:инструкци|правил|указани)\w+",
    r"(?:忽略|无视|無視|忘记|忘記).{0,20}(?:指令|指示|规则|規則|提示)",
    r"(?:指示|命令|ルール).{0,10}(?:無視|忘れ)",
    r"\b(?:system|developer) (?:prompt|message)\b|\bsystemprompt\b|\bsystem-prompt\b",
)

DEFAULT_RULES: tuple[Rule, ...] = (
    Rule(
        id="length",
        longer_than=LONGEST,
        reply=f"The question is too long; please ask it in at most {LONGEST:,} characters.",
    ),
    Rule(id="hidden_characters", action="flag", hidden=True),
    Rule(id="instructions", action="flag", pattern="|".join(_OVERRIDES)),
)
