// Patterns that people write, over texts that strangers write. RE2 searches in linear time, so that
// no pattern and no text can take long; sizes are limited besides.
import { RE2JS } from 're2js';
import { fieldError, fieldMessage, type FieldError } from '../../bank-contract/field-errors.js';

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

/** A pattern that cannot be used, with what is wrong for its author. */
class PatternError extends SyntaxError {
  constructor(
    readonly problem: FieldError,
    options?: ErrorOptions,
  ) {
    super(fieldMessage(problem), options);
  }
}

/** Throws `SyntaxError`, whose message is for the author, when the pattern cannot be used. */
export function compileTextPattern(source: string): TextPattern {
  const known = compiledBySource.get(source);
  if (known) return known;
  if (source.length > maxPatternLength)
    throw new PatternError(fieldError('max_characters', { most: maxPatternLength }));
  const compiled = compile(withoutAccents(source));
  if (compiled.programSize() > maxProgramSize) throw new PatternError(fieldError('pattern_size'));
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

/**
 * Texts of which every part says nothing: single characters, and short words that nobody writes. A
 * pattern that is found in one of them is found in nearly every text.
 */
const meaninglessTexts = [
  '',
  'a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 . , : ; - / * ( )',
  'qz wvj kqxz zqjxv 70 394 7304',
];

/** Whether a text is a part of nearly every text. */
export function isMeaningless(part: string): boolean {
  const normalized = normalizeText(part);
  return meaninglessTexts.some((text) => text.includes(normalized));
}

/** What is wrong with a pattern that must distinguish lines; null for a good one. */
export function problemOfPattern(source: string): FieldError | null {
  try {
    const pattern = compileTextPattern(source);
    if (pattern.matches('')) return fieldError('pattern_of_empty');
    const distinguishes = !meaninglessTexts.some((text) => pattern.matches(text));
    return distinguishes ? null : fieldError('pattern_of_all');
  } catch (error) {
    if (error instanceof PatternError) return error.problem;
    throw error;
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch (cause) {
    throw new PatternError(fieldError('pattern'), { cause });
  }
}

const withoutAccents = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '');
