/** English plurals that no rule gives. */
const irregular =
  "person people,man men,woman women,child children,foot feet,tooth teeth,mouse mice,goose geese,ox oxen,quiz quizzes,lens lenses,gas gases,leaf leaves,life lives,half halves,shelf shelves,wolf wolves,knife knives,hero heroes,echo echoes,potato potatoes,tomato tomatoes,cargo cargoes,taxon taxa,criterion criteria,phenomenon phenomena,medium media,bacterium bacteria,genus genera,corpus corpora,fungus fungi,nucleus nuclei,locus loci,stimulus stimuli,index indices,vertex vertices,matrix matrices,appendix appendices,analysis analyses,hypothesis hypotheses,spectrum spectra,datum data"
    .split(",")
    .map((pair) => [pair.replace(/ .*/, ""), pair.replace(/^.* /, "")] as const);
const irregularPlurals: ReadonlyMap<string, string> = new Map(irregular);
/** Data is a word of its own. */
const irregularSingulars: ReadonlyMap<string, string> = new Map(
  irregular.filter(([one]) => one !== "datum").map(([one, many]) => [many, one]),
);

/** The singular of an English plural; undefined for other words. */
export function singular(word: string): string | undefined {
  const known = irregularSingulars.get(word);
  if (known !== undefined) return known;
  if (word.length < 4 || !/[^su]s$/.test(word)) return undefined;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=s|x|z|ch|sh)es$|s$/, "");
}

/** Words without a plural, or that are one. */
const uncountable =
  /^(?:data|metadata|media|series|species|people|information|software|hardware|equipment|evidence|news|music|weather|research|staff|knowledge|personnel|sheep|fish|aircraft|feedback)$|(?:ics|men)$/;

/** The English plural of a word. Words not in small ASCII letters, and plurals, stay. */
export function plural(word: string): string {
  if (!/^[a-z]+$/.test(word)) return /[a-z]$/.test(word) && /^[\x20-\x7e]+$/.test(word) ? `${word}s` : word;
  const known = irregularPlurals.get(word);
  if (known !== undefined) return known;
  if (uncountable.test(word) || irregularSingulars.has(word)) return word;
  if (/[a-z]{2}sis$/.test(word)) return `${word.slice(0, -2)}es`;
  if (/(?<!hu|ger|ro|otto|sha|talis|cay)man$/.test(word)) return `${word.slice(0, -3)}men`;
  if (/(?:[^aeiou]|qu)y$/.test(word)) return `${word.slice(0, -1)}ies`;
  if (/(?:ss|us|is|as|os|x|z|ch|sh)$/.test(word)) return `${word}es`;
  return word.endsWith("s") ? word : `${word}s`;
}

/** English verb forms that no rule gives, with the verb, or with the noun that data has for it. */
const verbForms = new Map(
  Object.entries({
    birth: "born",
    death: "died dead die dies",
    begin: "began begun",
    break: "broke broken",
    build: "built",
    buy: "bought",
    choose: "chose chosen",
    draw: "drew drawn",
    drive: "drove driven",
    fall: "fell fallen",
    fight: "fought",
    fly: "flew flown",
    grow: "grew grown",
    hold: "held",
    keep: "kept",
    know: "knew known",
    lose: "lost",
    make: "made",
    pay: "paid",
    sell: "sold",
    send: "sent",
    sing: "sang sung",
    speak: "spoke spoken",
    take: "took taken",
    teach: "taught",
    win: "won",
    write: "wrote written",
  }).flatMap(([base, forms]) => forms.split(" ").map((form) => [form, base] as const)),
);

/** The form that stands for a word: the singular, the verb of a form that no rule gives; of other words themselves. */
export const stemOf = (word: string): string => verbForms.get(word) ?? singular(word) ?? word;

/** The same word in the other number, where that does not begin with it; the base of a verb form that no rule gives. */
export function otherForms(word: string): readonly string[] {
  const stem = stemOf(word);
  if (stem !== word) return [stem];
  const many = irregularPlurals.get(word) ?? (/[^aeiou]y$/.test(word) ? plural(word) : word);
  return many === word ? [] : [many];
}
