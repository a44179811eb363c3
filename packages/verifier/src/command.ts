#!/usr/bin/env node
// The program: verifies a file, and says what does not hold. The exit code is 0 if everything holds
// and the chain is authenticated, 1 if something does not hold, 2 for a file or an option that is
// none, and 3 if nothing authenticates it.
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Unreadable } from './facts.js';
import { readStatement } from './statement.js';
import { verifyChain, type Verification } from './index.js';
import { describe, say, type Language } from './words.js';

const usage = `Usage: concilia-verifier CERTIFICATES.jsonl [options]

  --key ID          the key that signs, from elsewhere than the file
  --head HASH       the hash of a certificate, from elsewhere than the file
  --statement FILE  what the bank shows: its JSON, OFX, or CSV (nsu, createdAt, amount)
  --decisions FILE  the log of decisions, which the certificates have the root of
  --lang pt|en
`;

function report(one: Verification, bankLines: number | null, language: Language): string[] {
  const { findings, authenticatedBy, unproven, keys, from, to } = one;
  const basis = authenticatedBy === 'none' ? 'not_authenticated' : 'authenticated';
  const word = (name: Parameters<typeof say>[0]) => say(name, language);
  return [
    findings.length === 0 ? word('valid') : word('invalid'),
    ...findings.map((finding) => `  ${describe(finding, language)}`),
    `${word('covers')}: ${from ?? '–'} … ${to ?? '–'}`,
    `${word('certificates')}: ${one.certificates}, ${word('lines')}: ${one.lines}`,
    `${word('decisions')}: ${one.decisions ?? word('not_checked')}`,
    ...(unproven > 0 ? [`${word('unproven')}: ${unproven}`] : []),
    `${word('keys')}: ${keys.join(' ') || '–'}`,
    `${word('head')}: ${one.head}`,
    ...(findings.length === 0 ? [word(basis)] : []),
    ...(authenticatedBy === 'head' && !one.isHeadLast ? [word('up_to_head')] : []),
    bankLines === null ? word('not_complete') : `${word('complete')}: ${bankLines}`,
  ];
}

const text = { type: 'string' } as const;
const help = { type: 'boolean', short: 'h' } as const;
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
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [file] = positionals;
  if (file === undefined || values.help) {
    process[values.help ? 'stdout' : 'stderr'].write(usage);
    return values.help ? 0 : 2;
  }
  const preferred = values.lang ?? process.env['LC_ALL'] ?? process.env['LANG'] ?? '';
  const language: Language = preferred.startsWith('pt') ? 'pt' : 'en';
  const { key, head, statement: bank, decisions: log } = values;
  const statement = bank ? readStatement(readFileSync(bank, 'utf8')) : undefined;
  const decisions = log ? linesOf(log) : undefined;
  const verified = await verifyChain(linesOf(file), { key, head, statement, decisions });
  const lines = report(verified, statement ? statement.length : null, language);
  process.stdout.write(`${lines.join('\n')}\n`);
  if (verified.findings.length > 0) return 1;
  return verified.authenticatedBy === 'none' ? 3 : 0;
}

try {
  process.exitCode = await run();
} catch (error) {
  const isKnown = error instanceof Error && 'code' in error;
  if (!(error instanceof Unreadable) && !isKnown) throw error;
  process.stderr.write(`${isKnown ? error.message : 'The file is not in its form.'}\n\n${usage}`);
  process.exitCode = 2;
}
