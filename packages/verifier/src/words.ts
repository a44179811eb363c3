// What is said, in Portuguese and in English: words.json has the texts.
import { readFileSync } from 'node:fs';
import type texts from './words.json';

export type FindingCode = keyof typeof texts.findings;
export type Word = keyof typeof texts.report;
export type Language = 'pt' | 'en';
/** `where` is a certificate, a day, a line, or a row of the file. */
export type Finding = { code: FindingCode } & Record<'where' | 'expected' | 'actual', string>;

const file = readFileSync(new URL('./words.json', import.meta.url), 'utf8');
const { findings, report } = JSON.parse(file) as typeof texts;
/** What a verification has, in the order of its report. */
export const words = Object.keys(report) as Word[];
export const say = (word: Word, language: Language): string => report[word][language];

export function describe({ code, where, expected, actual }: Finding, language: Language): string {
  const [wanted, found] = [say('expected', language), say('found', language)];
  const values = [expected && `${wanted} ${expected}`, actual && `${found} ${actual}`];
  const said = values.filter((text) => text !== '').join(', ');
  return `${where}: ${findings[code][language]}${said && ` (${said})`}`;
}
