// The licences of all packages that are installed with the service: each allows use, change and
// sale without a fee, and asks for nothing of what is built with it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

interface Package {
  license?: string;
  licenses?: { type: string }[];
  dev?: boolean;
  link?: boolean;
}

const root = join(import.meta.dirname, '..');
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as object;

const permissive = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'],
  ...['BlueOak-1.0.0', 'Unlicense', 'MIT and ISC', '(MIT AND Zlib)'],
]);
/** Of packages that name no licence: that of their file LICENSE. */
const unnamed: Record<string, string> = {
  'htmx-ext-sse': '0BSD',
  'png-js': 'MIT',
  'seq-queue': 'MIT',
};
/** Of packages with conditions: why they do not concern us. */
const excepted: Record<string, string> = { elkjs: "in Prisma's own pages, which nobody starts" };

it('are permissive', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Package> };
  const others = Object.entries(packages).flatMap(([path, { license, dev, link }]) => {
    const [, name] = path.split(/^.*node_modules\//);
    if (name === undefined || dev || link || name in excepted) return [];
    const declared = unnamed[name] ?? license ?? licenceOf(path);
    return permissive.has(declared) ? [] : [`${name}: ${declared}`];
  });
  expect(others).toEqual([]);
});

function licenceOf(path: string): string {
  const { licenses = [] } = read(join(path, 'package.json')) as Package;
  return licenses.map(({ type }) => type).join(' or ') || 'none';
}
