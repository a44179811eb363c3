#!/usr/bin/env node
// The program: verifies a file, and says what does not hold. The exit code is 0 if everything holds
// and the chain is authenticated, 1 if something does not hold, 2 for a file or an option that is
// none, and 3 if nothing authenticates it.
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readStatement } from './statement.js';
import { verifyChain, type Verification } from './index.js';
import { describe, say, words, type Language, type Word } from './words.js';

const usage = `Usage: concilia-verifier CERTIFICATES.jsonl [options], each option once

  --key ID          a key that signs, from elsewhere than the file
  --head HASH       the hash of a certificate, from elsewhere than the file
  --statement FILE  what the bank shows: its JSON, OFX, or CSV (nsu, createdAt, amount)
  --decisions FILE  the log of decisions, which the certificates have the root of
  --lang pt|en
`;

function report(one: Verification, language: Language): string[] {
  const { findings, authenticatedBy: by } = one;
  const values: { [name in Word]?: string | number | readonly string[] | null | undefined } = one;
  const rows = words.map((name) => [say(name, language), [values[name] ?? []].flat().join(', ')]);
  return [
    say(findings.length === 0 ? 'valid' : 'invalid', language),
    ...findings.map((finding) => `  ${describe(finding, language)}`),
    ...rows.filter(([, value]) => value !== '' && value !== '0').map((row) => row.join(': ')),
    ...(findings.length > 0 ? [] : [say(by === 'none' ? 'none' : 'key', language)]),
  ];
}

const text = { type: 'string' } as const;
const help = { type: 'boolean', short: 'h' } as const;
const preferred = process.env['LC_ALL'] ?? process.env['LANG'] ?? '';
const defaultLanguage = preferred.startsWith('pt') ? 'pt' : 'en';
const options = { key: text, head: text, statement: text, decisions: text, lang: text, help };

/** A text may have U+2028, at which `readline` would end a line. */
async function* linesOf(name: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(name, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function run(): Promise<number> {
  const parsed = parseArgs({ allowPositionals: true, options, tokens: true });
  const { values, positionals, tokens } = parsed;
  const { key, head, statement: bank, decisions: log, lang = defaultLanguage } = values;
  const names = tokens.map((token, at) => (token.kind === 'option' ? token.name : at));
  const isUnderstood = (lang === 'pt' || lang === 'en') && new Set(names).size === names.length;
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0 || !isUnderstood || values.help) {
    process[values.help ? 'stdout' : 'stderr'].write(usage);
    return values.help ? 0 : 2;
  }
  const statement = bank === undefined ? bank : readStatement(readFileSync(bank, 'utf8'));
  const decisions = log === undefined ? log : linesOf(log);
  const verified = await verifyChain(linesOf(file), { key, head, statement, decisions });
  process.stdout.write(`${report(verified, lang).join('\n')}\n`);
  return verified.findings.length > 0 ? 1 : verified.authenticatedBy === 'none' ? 3 : 0;
}

try {
  process.exitCode = await run();
} catch (error) {
  const isForm = error instanceof SyntaxError;
  if (!(error instanceof Error) || !(isForm || 'code' in error)) throw error;
  process.stderr.write(`${error.message}${isForm ? ': not in its form' : ''}\n`);
  process.exitCode = 2;
}
