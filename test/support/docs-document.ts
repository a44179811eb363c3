// A document of docs/reference that follows from the code. `WRITE_DOCS=1` writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';

const folder = join(process.cwd(), 'docs/reference');

export function expectDocument(name: string, document: object | string): void {
  const path = join(folder, name);
  const text = typeof document === 'string' ? document : `${JSON.stringify(document, null, 1)}\n`;
  if (process.env['WRITE_DOCS'] === '1') writeFileSync(path, text);
  // A difference of some thousand lines would say less than the name.
  expect(readFileSync(path, 'utf8') === text).toBe(true);
}
