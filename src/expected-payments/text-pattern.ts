// Patterns that people write, over texts that strangers write. RE2 searches in linear time, so that
// no pattern and no text can take long; sizes are limited besides.
import { RE2JS } from 're2js';

export const maxPatternLength = 200;
/** Of a text, only so many characters are searched. */
const maxTextLength = 1_000;
/** The size of a compiled pattern: `(\w{100}){10}` has twice as much. */
const maxProgramSize = 500;

export interface TextPattern {
  /** Whether a part of the text matches, without regard to accents and case. */
  matches(text: string): boolean;
}

/** Throws `SyntaxError`, whose message is for the author, when the pattern cannot be used. */
export function compileTextPattern(source: string): TextPattern {
  if (source.length > maxPatternLength)
    throw new SyntaxError(`Must have at most ${maxPatternLength} characters.`);
  const compiled = compile(withoutAccents(source));
  if (compiled.programSize() > maxProgramSize)
    throw new SyntaxError('Repeats too much: use smaller numbers of repetitions.');
  return {
    matches: (text) => compiled.matcher(withoutAccents(text.slice(0, maxTextLength))).find(),
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch (cause) {
    throw new SyntaxError('Must be a valid pattern (RE2 syntax).', { cause });
  }
}

const withoutAccents = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '');
