import { describe, expect, it } from '@jest/globals';
import { StatementNames } from './named-statements.js';

const sendOften = (names: StatementNames, text: string, values: unknown[] = []) =>
  Array.from({ length: 10 }, () => names.nameOf(text, values)).at(-1);

describe('the name of a statement', () => {
  it('is given once the statement was sent often, and follows its text', () => {
    const names = new StatementNames();
    const sent = Array.from({ length: 7 }, () => names.nameOf('SELECT $1', [1]));
    expect(sent.slice(0, 5)).toEqual(['', '', '', '', '']);
    expect(sent[5]).toMatch(/^[\w-]{43}$/);
    expect(sent[6]).toBe(sent[5]);
    expect(sendOften(new StatementNames(), 'SELECT $1')).toBe(sent[5]);
    expect(sendOften(names, 'SELECT $1, $2')).not.toBe(sent[5]);
  });

  it('is not used for many elements, whose plan must be another', () => {
    const names = new StatementNames();
    const few = Array(32).fill('a');
    expect(sendOften(names, 'SELECT $1', ['a', [...few, 'b']])).toBe('');
    expect(sendOften(names, 'SELECT $1', ['a', few])).not.toBe('');
    expect(names.nameOf('SELECT $1', ['a', [...few, 'b']])).toBe('');
    expect(names.nameOf('SELECT $1', ['a'.repeat(2_001)])).toBe('');
    expect(names.nameOf('SELECT $1', [Buffer.alloc(2_001)])).toBe('');
    expect(names.nameOf('SELECT $1', ['a'.repeat(2_000)])).not.toBe('');
  });

  it.each([
    ['records in JSON', 'SELECT $1 FROM jsonb_to_recordset($2::jsonb) AS r(id int)', '[]'],
    [
      'lines of a text that a query of their own splits',
      'SELECT $1, unnest((SELECT string_to_array($2::text, chr(10))))',
      '',
    ],
  ])(
    'is used for many rows that are %s, of which PostgreSQL expects no number',
    (_, text, none) => {
      const names = new StatementNames();
      const long = 'a'.repeat(2_001);
      expect(sendOften(names, text, [1, long])).not.toBe('');
      expect(names.nameOf(text, [long, none])).toBe('');
    },
  );

  it('is not used for a long text that is split in another way', () => {
    const text = "SELECT string_to_array($1::text, ',') || $2";
    expect(sendOften(new StatementNames(), text, ['a'.repeat(2_001), 1])).toBe('');
  });

  it('is not given to a statement whose plan depends on which parameters are null', () => {
    const names = new StatementNames();
    expect(sendOften(names, 'SELECT WHERE ($1::bigint IS NULL OR nsu > $1::bigint)')).toBe('');
    expect(sendOften(names, 'SELECT WHERE (checked_at IS NULL OR nsu > $1)')).not.toBe('');
  });

  it.each(['COMMIT', 'ROLLBACK', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ'])(
    'is not given to %s',
    (text) => expect(sendOften(new StatementNames(), text)).toBe(''),
  );

  it('is given to so many statements and no more, and forgets rare ones', () => {
    const names = new StatementNames();
    names.nameOf('rare', []);
    for (let at = 0; at < 3_000; at += 1) names.nameOf(`once ${at}`, []);
    const sent = Array.from({ length: 6 }, () => names.nameOf('rare', []));
    expect(sent.slice(0, 5)).toEqual(['', '', '', '', '']);
    expect(sent[5]).not.toBe('');
    const given = Array.from({ length: 400 }, (_, at) => sendOften(names, `text ${at}`));
    expect(given.filter((name) => name !== '')).toHaveLength(299);
  });
});
