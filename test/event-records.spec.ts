// Each type of event has a row in the table that says by which ids a business system finds its
// record.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { eventTypes } from '../src/events/event.js';

const [, section = ''] = readFileSync('docs/events.md', 'utf8').split(
  '## The records of a business system',
);
const [table = ''] = section.split('\n## ');
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const typesOf = (cell = '') => [...cell.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type]) => type);

it('says for each type of event once by which ids its record is found', () => {
  const documented = rows.flatMap(([, types]) => typesOf(types));
  expect(documented.sort()).toEqual([...eventTypes].sort());
  for (const [, types, record] of rows) expect([types, record]).not.toEqual([types, '']);
});
