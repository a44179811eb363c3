// The environment together with the `.env` file; no other file of src reads the environment.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/** Invalid settings: the message has one line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(readonly problems: string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** Empty, a comment, or NAME=value. A quoted value ends on its line: no setting spans lines. */
const environmentFileLine =
  /^\s*(#.*|(export\s+)?[a-z_]\w*\s*=\s*("[^"]*"|'[^']*'|`[^`]*`|[^"'`\s].*)?\s*(#.*)?)?$/i;

/**
 * The environment together with the `.env` file of the working directory, where that file exists. A
 * variable of the environment wins over the file. Throws SettingsError for an invalid file.
 */
export function readEnvironment(path = '.env'): NodeJS.ProcessEnv {
  return { ...readEnvironmentFile(path), ...process.env };
}

function readEnvironmentFile(path: string): NodeJS.ProcessEnv {
  let content: string;
  try {
    content = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new SettingsError([`${resolve(path)} must be a readable file (${code}).`]);
  }
  // Node's parser skips what it does not understand, so that a typing error would go unnoticed.
  const index = content.split(/\r?\n/).findIndex((line) => !environmentFileLine.test(line));
  // The line itself is not shown: it may hold a secret.
  if (index !== -1)
    throw new SettingsError([
      `${resolve(path)}, line ${index + 1}: must be NAME=value, a comment after #, or empty.`,
    ]);
  return parseEnv(content) as NodeJS.ProcessEnv;
}
