"""Words that say nothing of their own, by language."""

_WORDS = {
    "en": """
        a an the and or but if of at by for with about into to from in on off over under is are
        was were be been being am do does did have has had it its this that these those he she
        they him his her their them we you i me my our your as so than then there here which who
        whom whose what when where how can could will would shall should may might must also such
        both each some any more most very just own same too however therefore
    """,
    "de": """
        der die das den dem des ein eine einer eines einem einen und oder aber wenn von bei mit
        über in im an am auf aus zu zum zur für ist sind war waren sein bin hat haben hatte wird
        werden wurde wurden es er sie wir ihr ich sich dies diese dieser dieses jene welche wer
        was wann wo wie kann können soll sollen muss müssen darf auch so als dann da hier man sehr
        nur noch schon vom beim ins durch um nach vor
    """,
    "fr": """
        le la les un une des du de d l et ou mais si à au aux par pour avec dans sur sous est sont
        était étaient être a ont avait avoir il elle ils elles on nous vous je se ce cette ces cet
        qui que quoi dont où quand comment peut peuvent doit doivent aussi comme très plus en y ne
        leur leurs son sa ses
    """,
    "es": """
        el la los las un una unos unas de del al y e o u pero si a en por para con sobre es son
        era eran ser está están ha han había haber lo se su sus este esta estos estas ese esa que
        quien cual cuando donde como puede pueden debe deben también muy más le les nos
    """,
    "it": """
        il lo la i gli le un uno una di del della dei delle degli dello al alla ai alle da dal
        dalla in nel nella con su sul sulla per tra fra e o ma se è sono era erano essere ha hanno
        aveva che chi cui quale quando dove come può possono deve devono anche molto più si ci ne
        questo questa questi queste
    """,
    "pt": """
        o a os as um uma uns umas de do da dos das em no na nos nas por para com sobre e ou mas se
        é são era eram ser está estão foi tem têm que quem qual quando onde como pode podem deve
        devem também muito mais ao à se seu sua seus suas este esta estes estas isso
    """,
    "nl": """
        de het een en of maar als van bij met over in op aan uit naar voor door is zijn was waren
        wordt worden werd heeft hebben had hij zij ze we wij je jij u ik zich dit dat deze die
        welke wie wat wanneer waar hoe kan kunnen moet moeten mag ook zo dan er hier zeer te om
    """,
}
STOP_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
"""Negations are not among them: they change what is said."""
SAYING_LITTLE = frozenset(
    ("yes", "no", "ok", "okay", "ja", "nein", "oui", "non", "sí", "si", "sim", "não", "nee")
)
"""Words that say nothing where no other stands beside them."""
