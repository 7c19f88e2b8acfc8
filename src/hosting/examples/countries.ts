/** What the generator knows of a country; people and cities are invented from the parts. */
export interface Country {
  readonly code: string;
  readonly name: string;
  readonly localName: string;
  readonly language: string;
  /** Rough position of the first city. */
  readonly latitude: number;
  readonly longitude: number;
  /** Women's and men's names in turn; the family names likewise where they differ. */
  readonly given: readonly string[];
  readonly family: readonly string[];
  readonly cityHeads: readonly string[];
  readonly cityTails: readonly string[];
  /** "View of {}" in the country's language. */
  readonly view: string;
}

const words = (text: string): readonly string[] => text.split(" ");

export const countries: readonly Country[] = [
  {
    code: "IS",
    name: "Iceland",
    localName: "Ísland",
    language: "is",
    latitude: 64,
    longitude: -19,
    given: words("Guðrún Þórður Sigríður Ólafur Ásta Björn Helga Einar"),
    family: words("Jónsdóttir Þorsteinsson Árnadóttir Sigurðsson Pálsdóttir Ólafsson Eiríksdóttir Magnússon"),
    cityHeads: words("Skála Hvamms Brim Sand Rauða"),
    cityTails: words("vík fjörður eyri nes"),
    view: "Útsýni yfir {}",
  },
  {
    code: "SE",
    name: "Sweden",
    localName: "Sverige",
    language: "sv",
    latitude: 59,
    longitude: 15,
    given: words("Märta Åke Ingrid Göran Linnéa Björn Astrid Östen"),
    family: words("Åström Lindqvist Öberg Sjögren Hedlund Wåhlin Nyström Bäckman"),
    cityHeads: words("Ål Björk Häll Sjö Väster"),
    cityTails: words("köping sund vik ås"),
    view: "Utsikt över {}",
  },
  {
    code: "PT",
    name: "Portugal",
    localName: "Portugal",
    language: "pt",
    latitude: 39,
    longitude: -8,
    given: words("Inês João Conceição Tomé Lúcia Simão Mafalda Gonçalo"),
    family: words("Brandão Conceição Leitão Magalhães Vilarinho Assunção Frazão Queirós"),
    cityHeads: words("Monte São Vila Ponte Fonte"),
    cityTails: ["-o-Velho", " Brandão", " da Ribeira", "-Longa"],
    view: "Vista de {}",
  },
  {
    code: "PL",
    name: "Poland",
    localName: "Polska",
    language: "pl",
    latitude: 52,
    longitude: 19,
    given: words("Łucja Bogusław Małgorzata Zdzisław Jadwiga Kazimierz Świętosława Mieszko"),
    family: words("Dąbrowicz Źrebiec Wróblewicz Święch Gołąbek Kołodziej Żurawicz Brzęczyk"),
    cityHeads: words("Dąb Wierz Brzo Głę Żar"),
    cityTails: words("owice bowo zów nica"),
    view: "Widok na {}",
  },
  {
    code: "CZ",
    name: "Czechia",
    localName: "Česko",
    language: "cs",
    latitude: 49,
    longitude: 15,
    given: words("Božena Jiří Květa Řehoř Zdeňka Ondřej Růžena Lukáš"),
    family: words("Dvořáčková Řezníček Šťastná Kučerka Hájková Přibyl Žáková Vlček"),
    cityHeads: words("Dlou Čer Vyso Krá Stř"),
    cityTails: words("hov nice lovec břany"),
    view: "Pohled na {}",
  },
  {
    code: "GR",
    name: "Greece",
    localName: "Ελλάδα",
    language: "el",
    latitude: 38,
    longitude: 23,
    given: words("Ελένη Γιώργος Μαρία Νίκος Σοφία Κώστας Άννα Πέτρος"),
    family: words("Λαμπρίδη Βενιζέλης Καλογερά Μαυρομάτης Θεοδώρου Ξυδάκης Ρήγα Χατζής"),
    cityHeads: words("Παλαιο Μεγαλο Νεο Λευκο Ακρο"),
    cityTails: words("χώρι λίμανο κάστρο πηγή"),
    view: "Άποψη από {}",
  },
  {
    code: "HU",
    name: "Hungary",
    localName: "Magyarország",
    language: "hu",
    latitude: 47,
    longitude: 19,
    given: words("Ágnes György Erzsébet László Zsófia Ödön Piroska Győző"),
    family: words("Szűcs Fazekas Kőműves Bódi Vörös Tűzkő Sárközi Halász"),
    cityHeads: words("Nagy Kis Tisza Bükk Szőlő"),
    cityTails: words("szállás hegyes tornya füred"),
    view: "{} látképe",
  },
  {
    code: "IE",
    name: "Ireland",
    localName: "Éire",
    language: "ga",
    latitude: 53,
    longitude: -8,
    given: words("Aoife Cathal Máire Pádraig Róisín Seán Bríd Tadhg"),
    family: words("O'Dálaigh Breathnach O'Súilleabháin MacCárthaigh Ní_Bhriain O'Ceallaigh Mulryan Devane").map(
      (name) => name.replace("_", " "),
    ),
    cityHeads: words("Bally Kil Dún Clon Inish"),
    cityTails: words("more bride garve lacken"),
    view: "Radharc ar {}",
  },
  {
    code: "JP",
    name: "Japan",
    localName: "日本",
    language: "ja",
    latitude: 36,
    longitude: 138,
    given: words("花子 健一 美咲 大輔 千代 雪舟 和子 直樹"),
    family: words("青山 石橋 小川 松永 北村 白石 森田 横井"),
    cityHeads: words("松 川 山 海 白"),
    cityTails: words("ヶ浜 見町 野原 沢"),
    view: "{}の眺め",
  },
  {
    code: "MX",
    name: "Mexico",
    localName: "México",
    language: "es",
    latitude: 20,
    longitude: -100,
    given: words("Lucía Joaquín Inés Andrés Ximena Raúl Concepción Tomás"),
    family: words("Ibáñez Zúñiga Cárdenas Bermúdez Peña Tlatoa Rincón Échave"),
    cityHeads: words("Santa San Puerto Villa Cerro"),
    cityTails: [" Xóchitl", " Peñón", " Ángel", " Nopal"],
    view: "Vista de {}",
  },
];
