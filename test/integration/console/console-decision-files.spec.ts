// Decisions by spreadsheet: the file of a filter, and the same file with decisions written into it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  breakForms,
  breaksPath as breaks,
  startBreakPages,
  type BreakPagesSetup,
} from '../../support/break-pages.js';
import { BreaksFixture } from '../../support/breaks.js';
import { csrfOf } from '../../support/console-visitor.js';

describe('a spreadsheet of decisions', () => {
  let setup: BreakPagesSetup;
  const fixture = new BreaksFixture(() => setup.service);
  const { sql, get } = fixture;
  const { resolveAll } = breakForms(() => setup, fixture);
  beforeAll(async () => {
    setup = await startBreakPages();
  });
  afterAll(() => setup.service.stop());
  beforeEach(resolveAll);

  const page = `${breaks}/decisions`;
  const take = async (language: string) =>
    (await setup.analyst.get(`${page}?file=csv`, { 'accept-language': language })).text;
  const upload = async (content: string, name = 'decisions.csv') => {
    const form = new FormData();
    form.set('csrf', csrfOf((await setup.analyst.get(page)).text));
    form.set('file', new Blob([content]), name);
    const encoded = new Response(form);
    return setup.analyst.send(page, {
      method: 'POST',
      body: Buffer.from(await encoded.arrayBuffer()),
      headers: {
        origin: setup.service.url,
        'content-type': encoded.headers.get('content-type') ?? '',
      },
    });
  };
  const decide = (file: string, ...written: [id: string, cells: string][]) =>
    written.reduce((text, [id, cells]) => {
      const row = text.split('\r\n').find((line) => line.startsWith(id))!;
      return text.replace(row, `${row.replace(/[;,][;,]$/, '')}${cells}`);
    }, file);

  it('is taken, filled, previewed and applied; what has changed is left as it is', async () => {
    const [kept, changed, noted, accepted] = [
      await fixture.addUnexpectedLine({ amountCents: 100, notes: '=SUM(A1)' }),
      await fixture.addUnexpectedLine({ amountCents: 200 }),
      await fixture.addUnexpectedLine({ amountCents: 300 }),
      await fixture.addUnexpectedLine({ amountCents: 400 }),
    ];
    await fixture.addExpectedPayment({ amountCents: 400 });
    const file = await take('pt-BR');
    expect(file).toContain(
      'id;versao;tipo;valor;contraparte;idade;melhorCandidato;decisao;motivo\r\n',
    );
    expect(file).not.toMatch(/(^|;)=/m);
    expect(file.split('\r\n').find((row) => row.startsWith(accepted.id))).toMatch(
      /;4,00;.*R\$.4,00 · /,
    );
    const filled = decide(
      file.replace(';3,00;', ';999999,00;'),
      [changed.id, ';aceitar;'],
      [noted.id, ';anotar;waits for its invoice'],
      [accepted.id, ';Aceitar;'],
    );
    await sql(`UPDATE break SET amount_cents = 201 WHERE id = $1`, changed.id);
    const uploaded = await upload(filled);
    expect(uploaded.text).toContain('The break has changed since');
    const [batch = ''] = /\/console[^"]*\/breaks\/batches\/[0-9a-f-]+/.exec(uploaded.text) ?? [];
    const preview = await setup.analyst.get(batch);
    // The amount is that of the break, whatever the file says.
    expect(preview.text).toContain('2 breaks · R$ 7,00');
    expect((await get(accepted.id)).state).toBe('open');
    const csrf = csrfOf(preview.text);
    const sent = { csrf, reason: 'Reviewed on Monday' };
    expect((await setup.analyst.post(`${batch}/file`, sent)).status).toBe(303);
    expect((await setup.analyst.get(batch)).text).toContain('Done: 2. Refused: 0. Left: 0.');
    expect(await get(accepted.id)).toMatchObject({ state: 'resolved', resolution: 'accept' });
    expect((await get(accepted.id)).history.at(-1)).toMatchObject({ reason: sent.reason });
    expect((await get(noted.id)).history.at(-1)).toMatchObject({
      action: 'note',
      reason: 'waits for its invoice',
    });
    for (const { id } of [kept, changed]) expect((await get(id)).state).toBe('open');
    expect(
      await sql(`SELECT action FROM audit_entry WHERE subject = $1`, `breaks ${batch.slice(-36)}`),
    ).toEqual([{ action: 'decide breaks' }]);
  });

  it('refuses a break of two rows, what sends money, and what is no such file', async () => {
    const one = await fixture.addUnexpectedLine();
    const two = await fixture.addUnexpectedLine();
    const file = await take('en');
    const row = file.split('\r\n').find((line) => line.startsWith(one.id))!;
    const filled = decide(`${file}${row.replace(/,,$/, ',note,')}\r\n`, [one.id, ',accept,']);
    const { status, text } = await upload(decide(filled, [two.id, ',refund,']));
    expect([status, text.match(/The break stands twice\./g)?.length]).toEqual([200, 2]);
    expect(text).toContain('The decision is not known.');
    expect(text).toContain('Nothing to decide in this file.');
    expect((await upload('id,version\r\n', 'a.pdf')).status).toBe(422);
    expect((await upload(`id,version\r\n"${one.id}`)).status).toBe(422);
    const long = Array.from({ length: 1_001 }, (_, n) => `${n},v`).join('\r\n');
    expect((await upload(`id,version\r\n${long}`)).status).toBe(422);
    expect((await setup.viewer.get(page)).status).toBe(403);
  });
});
