import { expect, it } from '@jest/globals';
import pg from 'pg';
import { ObjectQuery } from './object-query.js';

const { INT8, TEXT, JSONB, TIMESTAMPTZ } = pg.types.builtins;

/** A query to which the driver hands rows of these columns, and then that it is answered. */
async function answer(columns: Record<string, number>, rows: (string | null)[][]) {
  const { query, end } = received(columns, rows);
  await end();
  return query.objects;
}

/** The same query before the server is done. */
function received(columns: Record<string, number>, rows: (string | null)[][]) {
  const query = new ObjectQuery({ text: 'SELECT 1' });
  const fields = Object.entries(columns).map(([name, dataTypeID]) => ({ name, dataTypeID }));
  query.handleRowDescription({ fields } as never);
  for (const texts of rows) query.handleDataRow({ fields: texts });
  const driver = query as unknown as {
    callback: (error: Error | null) => void;
    handleReadyForQuery: () => void;
  };
  const end = () =>
    new Promise<void>((resolve, reject) => {
      driver.callback = (error) => (error ? reject(error) : resolve());
      driver.handleReadyForQuery();
    });
  return { query, end };
}

it('reads rows as objects with names in camel case, and values by their types', async () => {
  const columns = { amount_cents: INT8, name: TEXT, detail: JSONB, occurred_at: TIMESTAMPTZ };
  const at = '2026-11-28 03:04:05.678+00';
  const rows = [
    ['9007199254740993', 'Maria', '{"a":[1]}', at],
    ['0', '', 'null', '2026-11-28 00:04:05-03'],
    [null, null, null, null],
  ];
  expect(await answer(columns, rows)).toEqual([
    {
      ...{ amountCents: 9_007_199_254_740_993n, name: 'Maria', detail: { a: [1] } },
      occurredAt: new Date('2026-11-28T03:04:05.678Z'),
    },
    { amountCents: 0n, name: '', detail: null, occurredAt: new Date('2026-11-28T03:04:05Z') },
    { amountCents: null, name: null, detail: null, occurredAt: null },
  ]);
});

it('reads the same name of another type as that type', async () => {
  expect(await answer({ value: INT8 }, [['1']])).toEqual([{ value: 1n }]);
  expect(await answer({ value: TEXT }, [['1']])).toEqual([{ value: '1' }]);
});

it('fails with the error of a value that cannot be read, and not before the server is done', async () => {
  // An error that is thrown while rows arrive would end the process.
  const { end } = received({ value: INT8 }, [['1'], ['x'], ['2']]);
  await expect(end()).rejects.toThrow('Cannot convert x to a BigInt');
});
