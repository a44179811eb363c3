// Compares stored events with what the API reference says of the data of each type.
import { expect } from '@jest/globals';
import { z } from 'zod';
import { eventData } from '../../src/events/event-fields.schema.js';
import type { EventType } from '../../src/events/event-types.js';
import { parseJson } from '../../src/platform/json/exact-json.js';

interface Events {
  query(sql: string): Promise<{ rows: { type: EventType; data: string }[] }>;
}

/** Asserts that stored events have the declared fields alone, and that these types are stored. */
export async function expectDeclaredEvents(
  database: Events,
  types: readonly EventType[],
): Promise<void> {
  const { rows } = await database.query('SELECT type, data FROM event');
  expect(rows.map(({ type }) => type)).toEqual(expect.arrayContaining([...types]));
  const wrong = rows.flatMap(({ type, data }) => {
    const { error } = z.safeDecode(eventData[type].strict(), parseJson(data) as never);
    return error ? [[type, data, z.prettifyError(error)]] : [];
  });
  expect(wrong).toEqual([]);
}
