// Files as treasuries keep them, through the API: XLSX, also as the service's own writer makes it,
// and CSV with decimal commas. No amount is read a thousand times too large or too small.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import type { Table } from '../../../src/reporting/exports/table.js';
import { xlsxFile } from '../../../src/reporting/exports/xlsx-file.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { uploadedSheet } from '../../support/uploaded-sheet.js';

const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const path = '/v1/expected-payments';

interface Payable {
  externalId: string;
  cents: bigint;
  day: string;
  taxId: string;
}
const payables: Payable[] = [
  { externalId: 'p-0007', cents: 123_456_78n, day: '2026-06-05', taxId: '01234567890' },
  { externalId: 'p-0008', cents: 150n, day: '2026-06-08', taxId: '52998224725' },
  { externalId: 'p-0009', cents: 1_500_00n, day: '2026-06-08', taxId: '11222333000181' },
];
/** The titles of people are those of the API here. */
const table: Table<Payable> = {
  title: 'Previstos',
  columns: [
    { ...heading('externalId'), kind: 'text', value: ({ externalId }) => externalId },
    { ...heading('direction'), kind: 'text', value: () => 'debit' },
    { ...heading('amount'), kind: 'money', value: ({ cents }) => cents },
    { ...heading('dateFrom'), kind: 'day', value: ({ day }) => day },
    { ...heading('counterparty.taxId'), kind: 'stranger', value: ({ taxId }) => taxId },
  ],
};

function heading(name: string) {
  return { name, title: name };
}

async function writtenSheet(rows: readonly Payable[]): Promise<Buffer> {
  const file = xlsxFile(table);
  const sheet = [file.head(), ...rows.map((row) => file.row(row)), file.foot()];
  return buffer(
    file.container?.(Readable.from(sheet.map((text) => Buffer.from(text)))) ?? Readable.from([]),
  );
}

describe('an uploaded sheet', () => {
  let service: ServiceApplication;
  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  /** Waits where the key has used its uploads of the second. */
  async function patiently(url: string, init: RequestInit): Promise<Response> {
    for (;;) {
      const response = await fetch(url, init);
      if (response.status !== 429) return response;
      await setTimeout(Number(response.headers.get('retry-after')) * 1_000);
    }
  }

  /** Uploads the file and issues its rows. Returns the rows as the API shows them. */
  async function upload(file: Buffer | string, contentType: string, query = '') {
    const response = await patiently(`${service.url}${path}/bulk${query}`, {
      method: 'POST',
      headers: { 'x-service-api-key': 'concilia-dev-key', 'content-type': contentType },
      body: typeof file === 'string' ? file : new Uint8Array(file),
    });
    const { id } = (await response.json()) as { id?: string };
    if (id === undefined) return { status: response.status, rows: [], id: null };
    const { accountId } = await service.database.prisma.bulkUpload.findFirstOrThrow();
    await service.application
      .get(BulkService, { strict: false })
      .issueNextRows({ accountId, uploadId: id });
    const { body } = await service.call('GET', `/v1/bulk/${id}/rows`);
    const rows = body.data as { state: string; errors: object }[];
    return { status: response.status, rows, id };
  }
  const amountOf = async (name: string) => (await service.call('GET', `${path}/${name}`)).body;

  it('of the service’s own writer is read to the cent, with its days and leading zeros', async () => {
    const { status, rows } = await upload(await writtenSheet(payables), xlsx);
    expect(status).toBe(202);
    expect(rows.map(({ state }) => state)).toEqual(payables.map(() => 'accepted'));
    for (const { externalId, cents, day, taxId } of payables)
      expect(await amountOf(externalId)).toMatchObject({
        ...{ amount: Number(cents) / 100, dateFrom: day, dateTo: day, direction: 'debit' },
        counterparty: { taxId },
      });
  });

  it('with decimal commas is read so, and refuses what may be a thousand times as much', async () => {
    const csv = [
      'externalId;direction;amount;dateFrom',
      'c-1;debit;1.234,56;05/06/2026',
      'c-2;debit;1.500;05/06/2026',
      'c-3;debit;0.500;05/06/2026',
      'c-4;debit;R$ 007,50;05/06/2026',
    ].join('\n');
    const { rows } = await upload(csv, 'text/csv');
    expect(rows.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'invalid', 'accepted']);
    expect(await amountOf('c-1')).toMatchObject({ amount: 1_234.56, dateFrom: '2026-06-05' });
    expect(await amountOf('c-2')).toMatchObject({ amount: 1_500 });
    expect(await amountOf('c-4')).toMatchObject({ amount: 7.5 });
    const points = [
      'externalId,direction,amount,dateFrom',
      'd-1,debit,149.90,2026-06-05',
      'd-2,debit,1.500,2026-06-05',
      'd-3,debit,007,2026-06-05',
    ].join('\n');
    const read = await upload(points, 'text/csv');
    expect(read.rows.map(({ state }) => state)).toEqual(['accepted', 'invalid', 'accepted']);
    expect(await amountOf('d-3')).toMatchObject({ amount: 7 });
  });

  it('is the visible one or the one that the request names, each an upload of its own', async () => {
    const cells = (...values: string[]) =>
      `<row>${values.map((one) => `<c t="str"><v>${one}</v></c>`).join('')}</row>`;
    const sheet = (id: string) =>
      cells('externalId', 'direction', 'dateFrom', 'amount') +
      cells(id, 'debit', '2026-06-05', '1,00');
    const file = uploadedSheet({
      ...{ name: 'Outubro', state: 'veryHidden', rows: sheet('hidden') },
      more: [{ name: 'Novembro', rows: sheet('visible') }],
    });
    const visible = await upload(file, xlsx);
    expect(visible.rows.map(({ state }) => state)).toEqual(['accepted']);
    expect(await amountOf('visible')).toMatchObject({ amount: 1 });
    expect(await amountOf('hidden')).toMatchObject({ status: 404 });
    const named = await upload(file, xlsx, '?sheet=Outubro');
    expect(named.id).not.toBe(visible.id);
    expect(await amountOf('hidden')).toMatchObject({ amount: 1 });
    expect((await upload(file, xlsx, '?sheet=Outubro')).id).toBe(named.id);
    expect((await upload('externalId\nx', 'text/csv', '?sheet=Outubro')).status).toBe(400);
    expect((await upload(file, xlsx, '?hidden=yes')).status).toBe(400);
  });

  it('is checked without storing anything, and then issued as it was checked', async () => {
    const csv = [
      'externalId,direction,amount,dateFrom,counterparty.name',
      'k-1,debit,10.50,2026-06-05,Ana',
      'k-2,debit,0.25,2026-06-05,Bia',
      'k-3,debit,2,2026-06-05,Ana',
      'k-4,debit,x,2026-06-05,Ana',
    ].join('\n');
    const check = async (file: string, kind = path) => {
      const response = await patiently(`${service.url}${kind}/bulk/check`, {
        method: 'POST',
        headers: { 'x-service-api-key': 'concilia-dev-key', 'content-type': 'text/csv' },
        body: file,
      });
      return (await response.json()) as Record<string, unknown> & { hash: string };
    };
    const before = await service.database.prisma.bulkUpload.count();
    const checked = await check(csv);
    expect(checked).toMatchObject({
      ...{ rows: 4, invalid: 1, total: 12.75, payeeCount: 2 },
      payees: [
        { name: 'Ana', rows: 2, total: 12.5 },
        { name: 'Bia', rows: 1, total: 0.25 },
      ],
      errors: [{ line: 5, reference: 'k-4', errors: { '$.amount': [expect.any(String)] } }],
    });
    expect(await service.database.prisma.bulkUpload.count()).toBe(before);
    const changed = await upload(
      csv.replace('10.50', '100.50'),
      'text/csv',
      `?hash=${checked.hash}`,
    );
    expect([changed.status, await service.database.prisma.bulkUpload.count()]).toEqual([
      409,
      before,
    ]);
    expect((await check(csv, '/v1/transfers')).hash).not.toBe(checked.hash);
    const issued = await upload(csv, 'text/csv', `?hash=${checked.hash}`);
    expect(issued.rows.map(({ state }) => state)).toEqual([
      ...['accepted', 'accepted', 'accepted', 'invalid'],
    ]);
  });

  it('that is damaged or has a number of lost digits is refused, and nothing of it is stored', async () => {
    const sheet = await writtenSheet(payables);
    expect((await upload(sheet.subarray(0, sheet.length - 40), xlsx)).status).toBe(400);
    expect((await upload('not a sheet', xlsx)).status).toBe(400);
    const cells = (...values: string[]) =>
      `<row>${values.map((one) => `<c t="str"><v>${one}</v></c>`).join('')}`;
    const rows =
      `${cells('externalId', 'direction', 'dateFrom', 'amount')}</row>` +
      `${cells('x-1', 'debit', '2026-06-05')}<c><v>1234567890123456789</v></c></row>` +
      `${cells('x-2', 'debit', '2026-06-05')}<c t="e"><v>#REF!</v></c></row>` +
      `${cells('x-3', 'debit', '2026-06-05')}<c><v>1e3</v></c></row>`;
    const read = await upload(uploadedSheet({ rows }), xlsx);
    expect(read.rows.map(({ state }) => state)).toEqual(['invalid', 'invalid', 'accepted']);
    expect(await amountOf('x-3')).toMatchObject({ amount: 1_000 });
  });
});
