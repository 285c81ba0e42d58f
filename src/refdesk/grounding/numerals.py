"""Words for numbers and months, in seven languages."""

_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig",
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte",
    "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici "
    "sedici diciassette diciotto diciannove venti",
    "um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis "
    "dezessete dezoito dezenove vinte",
    "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien "
    "zeventien achttien negentien twintig",
)
_TENS = (
    "twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
    "vingt trente quarante cinquante soixante septante quatre-vingt nonante cent",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta cento",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem",
    "twintig dertig veertig vijftig zestig zeventig tachtig negentig honderd",
)
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
_MORE = {
    "a": 1,
    "an": 1,
    "ein": 1,
    "eine": 1,
    "une": 1,
    "una": 1,
    "uma": 1,
    "thousand": 1000,
    "tausend": 1000,
}


def _numbered(rows: tuple[str, ...], first: int = 1, step: int = 1) -> dict[str, str]:
    return {word.casefold(): str(n * step) for row in rows for n, word in enumerate(row.split(), first)}


SPELLED: dict[str, str] = {
    **{word: str(number) for word, number in _MORE.items()},
    **_numbered(_MONTHS),
    **_numbered(_ONES),
    **_numbered(_TENS, 2, 10),
}
"""They only widen what evidence is taken to state, so that languages may share them."""
