// The languages of the console, which of them a person reads, and what a list of texts is.

export const languages = ['pt', 'en'] as const;
export type Language = (typeof languages)[number];

/** Each text in the order of `languages`. `{name}` stands for a value. */
export type Texts = Record<string, Text>;
type Text = readonly [pt: string, en: string];

/** A list that has a text of each kind, under the key `prefix.kind`. */
export type TextsOf<Prefix extends string, Kind extends string> = Readonly<
  Record<`${Prefix}.${Kind}`, Text>
>;

/** The texts that a kind is declared with, under the key `prefix.kind`. */
export function textsOfKinds<Prefix extends string, Kind extends string, Field extends string>(
  prefix: Prefix,
  declarations: Readonly<Record<Kind, Readonly<Record<Field, Text>>>>,
  field: Field,
): Record<`${Prefix}.${Kind}`, Text> {
  const texts = Object.entries<Readonly<Record<Field, Text>>>(declarations).map(
    ([kind, declaration]) => [`${prefix}.${kind}`, declaration[field]],
  );
  return Object.fromEntries(texts) as Record<`${Prefix}.${Kind}`, Text>;
}

/**
 * The language that a person chose, or the first of `Accept-Language` that the console has.
 * Portuguese where no language is named: the bank's customers are in Brazil.
 */
export function chooseLanguage(chosen: string | undefined, accepted: string): Language {
  const known = languages.find((language) => language === chosen);
  if (known) return known;
  const ranked = accepted
    .split(',')
    .map((part, index) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const quality = parameters
        .find((one) => one.trim().startsWith('q='))
        ?.trim()
        .slice(2);
      return { tag: tag.split('-')[0] ?? '', quality: quality ? Number(quality) || 0 : 1, index };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality || one.index - other.index);
  for (const { tag } of ranked) {
    const language = languages.find((one) => one === tag);
    if (language) return language;
  }
  return ranked.some(({ tag }) => tag !== '' && tag !== '*') ? 'en' : 'pt';
}
