// Each type of event has a row in the table that says by which ids a business system finds its
// record.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { z } from 'zod';
import { eventTypes, type EventType } from '../src/events/event-types.js';
import { eventData } from '../src/events/event-fields.schema.js';

const [, section = ''] = readFileSync('docs/reference/events.md', 'utf8').split(
  '## The records of a business system',
);
const [table = ''] = section.split('\n## ');
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const isId = /(?:Id|[nN]su|Key|barCode)$/;
const typesOf = (cell = '') => [...cell.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type]) => type);

it('says for each type of event once by which ids its record is found', () => {
  const documented = rows.flatMap(([, types]) => typesOf(types));
  expect(documented.sort()).toEqual([...eventTypes].sort());
  for (const [, types, record] of rows) expect([types, record]).not.toEqual([types, '']);
});

it('names each id that events of a type always have', () => {
  for (const [, types, record = '', further = ''] of rows)
    for (const type of typesOf(types)) {
      const fields = Object.entries(
        eventData[type as EventType].shape as Record<string, z.ZodType>,
      );
      const ids = fields.filter(([name, of]) => isId.test(name) && !of.isOptional());
      const text = record.includes('the same') ? rowOf('operation.unknown') : record + further;
      for (const [id] of ids)
        expect([type, text]).toEqual([type, expect.stringContaining(`\`${id}\``)]);
    }
});

function rowOf(type: string): string {
  return rows.find(([, types]) => typesOf(types).includes(type))?.join(' ') ?? '';
}
