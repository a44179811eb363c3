// Patterns that people write, over texts that strangers write. RE2 searches in linear time, so that
// no pattern and no text can take long; sizes are limited besides.
import { RE2JS } from 're2js';

export const maxPatternLength = 200;
/** Of a text, only so many characters are searched. */
export const maxTextLength = 1_000;
/** The size of a compiled pattern: `(\w{100}){10}` has twice as much. */
const maxProgramSize = 500;
/** Compiled patterns that are held; the one that was compiled first leaves when there are more. */
const maxCompiled = 500;

export interface TextPattern {
  /** Whether a part of the text matches, without regard to accents, case and repeated spaces. */
  matches(text: string): boolean;
}

const compiledBySource = new Map<string, TextPattern>();

/** Throws `SyntaxError`, whose message is for the author, when the pattern cannot be used. */
export function compileTextPattern(source: string): TextPattern {
  const known = compiledBySource.get(source);
  if (known) return known;
  if (source.length > maxPatternLength)
    throw new SyntaxError(`Must have at most ${maxPatternLength} characters.`);
  const compiled = compile(withoutAccents(source));
  if (compiled.programSize() > maxProgramSize)
    throw new SyntaxError('Repeats too much: use smaller numbers of repetitions.');
  const pattern: TextPattern = {
    matches: (text) => compiled.matcher(normalizeText(text.slice(0, maxTextLength))).find(),
  };
  const [oldest] = compiledBySource.keys();
  if (compiledBySource.size >= maxCompiled && oldest !== undefined) compiledBySource.delete(oldest);
  compiledBySource.set(source, pattern);
  return pattern;
}

/** Removes accents, case and repeated spaces, because people type texts in different ways. */
export function normalizeText(text: string): string {
  return withoutAccents(text).toLowerCase().replace(/\s+/g, ' ').trim();
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch (cause) {
    throw new SyntaxError('Must be a valid pattern (RE2 syntax).', { cause });
  }
}

const withoutAccents = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '');
