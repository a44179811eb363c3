// Generators of any text, for properties. The unit `binary` of fast-check generates the same, but
// builds a table of all characters first, which takes seconds in each file that uses it.
import fc from 'fast-check';

/** The code points from the first surrogate on stand for no character of their own. */
const firstSurrogate = 0xd800;
const surrogates = 0x800;
const lastCodePoint = 0x10_ffff;

function characterOf(number: number): string {
  return String.fromCodePoint(number < firstSurrogate ? number : number + surrogates);
}

/**
 * The inverse of `characterOf`. With it, fast-check also generates texts that programs often handle
 * wrongly, such as `__proto__`.
 */
function numberOf(character: unknown): number {
  const codePoint = typeof character === 'string' ? (character.codePointAt(0) ?? -1) : -1;
  const number = codePoint < firstSurrogate ? codePoint : codePoint - surrogates;
  if (number < 0 || characterOf(number) !== character) throw new Error('not one character');
  return number;
}

const anyCharacter = fc.nat({ max: lastCodePoint - surrogates }).map(characterOf, numberOf);

/** Text of any characters of Unicode. */
export const anyText = fc.string({ unit: anyCharacter });
