import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { listQuery } from '../platform/http/listing.js';
import { readFilters } from './list-query.js';

describe('the filters of a page', () => {
  const schema = listQuery({ state: z.enum(['open', 'resolved']).optional() });
  const read = (text: string) => readFilters(schema, new URLSearchParams(text));

  it('are those of its address', () => {
    expect(read('state=open&limit=20')).toEqual({
      filters: { state: 'open', limit: 20 },
      wrong: [],
    });
  });

  it('have days as people type them', () => {
    const ofDay = z.object({ day: z.iso.date().optional(), text: z.string().optional() });
    const readDay = (text: string) => readFilters(ofDay, new URLSearchParams(text));
    expect(readDay('day=29/11/2026&text=1/2/2026').filters).toEqual({
      ...{ day: '2026-11-29', text: '1/2/2026' },
    });
    expect(readDay('day=31/02/2026')).toEqual({ filters: {}, wrong: ['day'] });
  });

  it('are absent where a field is empty', () => {
    expect(read('state=&limit= ')).toEqual({ filters: {}, wrong: [] });
  });

  it('are left out and named where the value is wrong', () => {
    expect(read('state=closed&limit=20')).toEqual({ filters: { limit: 20 }, wrong: ['state'] });
  });

  it('are all left out where a rule about several refuses them', () => {
    const ruled = schema.refine(({ state, limit }) => !(state && limit), 'not both');
    expect(readFilters(ruled, new URLSearchParams('state=open&limit=1'))).toEqual({
      filters: {},
      wrong: ['state', 'limit'],
    });
  });
});
