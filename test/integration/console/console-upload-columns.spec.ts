// A foreign spreadsheet from its choice to payments at the sandbox: its columns are mapped once,
// and nothing is sent before a person has confirmed whom it pays, and how much.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { ChosenFiles } from '../../../src/outbound/bulk/chosen-files.service.js';
import { Operators } from '../../../src/access/people/operators.service.js';
import {
  hiddenIn,
  sendFileForm,
  signedInPerson,
  type SignedIn,
} from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { uploadedSheet } from '../../support/uploaded-sheet.js';

const pages = '/console/accounts/main';
const header =
  'Favorecido;CPF/CNPJ;Banco;Agência;Conta;Valor (R$);Data pagamento;Chave Pix;Histórico';
const byKey = 'Maria;123.456.789-09;;;;R$ 1.234,56;30/11/2026;maria@pessoa-dois.example;NF 101';
const byAccount = 'ACME;11.222.333/0001-81;341;1;7654-3;80,00;30/11/2026;;NF 102';
const sheetOf = (...rows: string[]) =>
  ['Empresa, SA;;', `Pagamentos de novembro`, header, ...rows].join('\r\n');

describe('a foreign spreadsheet', () => {
  let service: ServiceApplication;
  let accountId: number;
  let analyst: SignedIn;

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    accountId = (await operators.findAccountId('main')) ?? 0;
    analyst = await signedInPerson(service, 'ana@example.com', { accountId, role: 'analyst' });
  }, 60_000);
  afterAll(() => service.stop());

  const choose = (content: string | Buffer, name = 'fornecedores.csv', kind = '') =>
    sendFileForm(service, analyst, `${pages}/bulk/check`, {
      ...{ name, content: Uint8Array.from(Buffer.from(content as string)), fields: { kind } },
      headers: { 'accept-language': 'pt-BR' },
    });
  const submit = (path: string, fields: Record<string, string>) =>
    analyst.submit(`${pages}/${path}`, fields);
  const formOf = (text: string, path: string) => {
    const shown = [...text.matchAll(/<select name="(\w+)".*?<\/select>/gs)].map(
      ([select, name = '']) => [name, /value="(\w*)" selected/.exec(select)?.[1] ?? ''] as const,
    );
    const carried = hiddenIn(text, `${pages}/${path}`).filter(([name]) => name !== 'csrf');
    const hidden = Object.fromEntries(carried);
    const asked = shown.filter(([name]) => /^(target|column\d+)$/.test(name));
    return path === 'bulk' ? hidden : { ...hidden, ...Object.fromEntries(asked) };
  };
  const rowsOf = async (sql: string) => (await service.database.pool.query(sql)).rows;
  const operations = () =>
    rowsOf(`SELECT state, amount_cents FROM operation ORDER BY amount_cents`);

  it('asks what its columns are, with its values and guesses, and stores no value', async () => {
    const { status, text } = await choose(sheetOf(byKey, byAccount));
    expect(status).toBe(200);
    for (const shown of ['Colunas do arquivo', 'R$ 1.234,56 · 80,00', 'vírgula nos centavos'])
      expect(text).toContain(shown);
    expect(formOf(text, 'bulk/columns')).toMatchObject({
      ...{ target: 'transfers', column0: 'name', column1: 'taxId', column5: 'amount' },
      // Transfers are sent at once: a day is found, and not used.
      ...{ column6: '', column7: 'key', column8: 'description' },
    });
  });

  it('refuses a mapping that lacks a field, has one twice or one of other rows', async () => {
    const form = formOf((await choose(sheetOf(byKey))).text, 'bulk/columns');
    const lacking = await submit('bulk/columns', { ...form, column5: '' });
    expect([lacking.status, lacking.text.includes('No column gives: Amount.')]).toEqual([
      422,
      true,
    ]);
    const twice = await submit('bulk/columns', { ...form, column6: 'amount' });
    expect(twice.text).toContain('Another column is this field already.');
    expect(twice.text).not.toContain('What would be sent');
    const unasked = await submit('bulk/columns', { ...form, target: '' });
    expect(unasked.status).toBe(422);
    expect(await rowsOf('SELECT 1 FROM bulk_mapping')).toEqual([]);
    const foreign = await submit('bulk/columns', { ...form, column6: 'date' });
    expect(foreign.text).toContain('Rows of this kind have no such field.');
  });

  it('shows totals and payees, sends them once they are confirmed, and only once', async () => {
    const { text } = await choose(sheetOf(byKey, byAccount));
    const checked = await submit('bulk/columns', formOf(text, 'bulk/columns'));
    for (const shown of ['1.314,56', 'Maria Aparecida da Silva', 'Branch 0001 · Account 7654-3'])
      expect(checked.text).toContain(shown);
    expect(checked.text).toContain('Store and send 2 payments, R$\u00a01.314,56 in total');
    expect([await operations(), await rowsOf('SELECT 1 FROM bulk_upload')]).toEqual([[], []]);

    const sent = formOf(checked.text, 'bulk');
    const { hash: _, ...unconfirmed } = sent;
    expect((await submit('bulk', unconfirmed)).status).toBe(422);
    expect(await rowsOf('SELECT 1 FROM bulk_upload')).toEqual([]);
    const { location } = await submit('bulk', sent);
    const uploadId = location?.split('/').at(-1) ?? '';
    await service.application
      .get(BulkService, { strict: false })
      .issueNextRows({ accountId, uploadId });
    expect(await operations()).toEqual([
      { state: 'succeeded', amount_cents: '8000' },
      { state: 'succeeded', amount_cents: '123456' },
    ]);
    expect(await rowsOf('SELECT 1 FROM bulk_file_part')).not.toHaveLength(0);

    // The same file goes straight to its totals, and is the same upload.
    const again = await choose(sheetOf(byKey, byAccount));
    expect(again.text).toContain('O que seria enviado');
    expect((await submit('bulk', formOf(again.text, 'bulk'))).location).toBe(location);
  });

  it('goes straight to its totals with the headers of another one, in any order', async () => {
    const cells = (line: string) => line.split(';').toReversed();
    const [names, row] = [cells(header), cells(byKey.replace('1.234,56', '5,00'))];
    const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
    const xml = (line: readonly string[]) =>
      line.map((text) => (text === 'R$ 5,00' ? '<c><v>149.90000000000001</v></c>' : cell(text)));
    const rows = [names, row].map((line, at) => `<row r="${at + 1}">${xml(line).join('')}</row>`);
    const { text } = await choose(uploadedSheet({ rows: rows.join('') }), 'dezembro.xlsx');
    expect(text).toContain('O que seria enviado');
    expect(text).toContain('R$\u00a0149,90');

    // What was mapped can be mapped again.
    const change = Object.fromEntries(hiddenIn(text, `${pages}/bulk/columns`));
    const asked = await submit('bulk/columns', change);
    expect(formOf(asked.text, 'bulk/columns')).toMatchObject({ column1: 'key', column3: 'amount' });
    const [mapping] = await rowsOf('SELECT actor, fields FROM bulk_mapping');
    expect(mapping.actor).toBe(`person:${analyst.id}`);
    expect([...mapping.fields].sort().join(' ')).toBe(
      ' account amount bank branch description key name taxId',
    );
  });

  it('is asked for its columns again where a person says that it holds something else', async () => {
    const { text } = await choose(sheetOf(byKey), 'fornecedores.csv', 'charges');
    const form = formOf(text, 'bulk/columns');
    expect(form).toMatchObject({ kind: 'charges', target: 'charges', column5: 'amount' });
    // What the form says of the rows counts, then, and their errors name its columns.
    const checked = await submit('bulk/columns', { ...form, target: 'transfers' });
    expect(checked.text).toContain('Transfers. Checked: all 1 rows are valid.');
    const wrong = await choose(sheetOf(byKey.replace('123.456.789-09', '123')));
    expect(wrong.text).toContain('CPF/CNPJ: Precisa ser um CPF/CNPJ válido.');
  });

  it('does not send a row again in a changed file, and refuses an unclear amount', async () => {
    const doubtful = byKey.replace('1.234,56', '1.500').replace('NF 101', 'NF 103');
    const other = byAccount.replace('80,00', '7.50');
    const { text } = await choose(sheetOf(byKey, doubtful, other));
    expect(text).toContain('Escreva os centavos: 1.234,00.');
    const { location } = await submit('bulk', formOf(text, 'bulk'));
    const uploadId = location?.split('/').at(-1) ?? '';
    await service.application
      .get(BulkService, { strict: false })
      .issueNextRows({ accountId, uploadId });
    const amounts = (await operations()).map(({ amount_cents: cents }) => cents);
    expect(amounts).toEqual(['750', '8000', '123456']);
  });

  it.each([
    ['has no header', 'Maria;123.456.789-09;10,00\nJoão;529.982.247-25;5,00'],
    ['has rows of too many columns', `a;b${';c'.repeat(300)}\n1;2`],
  ])('that %s is refused on the page', async (_, content) => {
    const { status, text } = await choose(content);
    expect([status, text.includes('não pôde ser lido')]).toEqual([422, true]);
  });

  it('of another account, and one that was deleted, is 404', async () => {
    const { addAccount } = operatorOf(() => service);
    const { slug } = await addAccount({ apiKey: 'sandbox-dev-key-2' });
    const form = formOf((await choose(sheetOf(byKey))).text, 'bulk');
    const grant = { accountId: null, role: 'admin' } as const;
    const owner = await signedInPerson(service, 'owner@example.com', grant);
    for (const path of ['bulk', 'bulk/columns'])
      expect((await owner.submit(`/console/accounts/${slug}/${path}`, form)).status).toBe(404);
    await service.database.pool.query(
      `UPDATE bulk_file_part SET created_at = created_at - interval '61 minutes'`,
    );
    await service.application.get(ChosenFiles, { strict: false }).deleteOld();
    expect(await rowsOf('SELECT 1 FROM bulk_file_part')).toEqual([]);
    const gone = await submit('bulk', form);
    expect([gone.status, gone.text.includes('Choose it again')]).toEqual([404, true]);
  });
});
