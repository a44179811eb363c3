// Who works on a break, and until when the list of work leaves it out: by forms and by the API.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addDays } from '../../../src/brazil/calendar.js';
import {
  breakForms,
  breaksPath as breaks,
  startBreakPages,
  type BreakPagesSetup,
} from '../../support/break-pages.js';
import { BreaksFixture } from '../../support/breaks.js';
import { csrfOf } from '../../support/console-visitor.js';

describe('the plan of a break', () => {
  let setup: BreakPagesSetup;
  const fixture = new BreaksFixture(() => setup.service);
  const { sql, actions } = fixture;
  const { resolveAll } = breakForms(() => setup, fixture);
  let until: string;
  beforeAll(async () => {
    setup = await startBreakPages();
    until = addDays(new Date().toISOString().slice(0, 10), 5);
  });
  afterAll(() => setup.service.stop());
  beforeEach(resolveAll);

  const call = (path: string, body: unknown) =>
    setup.service.call('POST', `/v1/breaks/${path}`, { body });
  const listed = async (query: string) => {
    const { status, body } = await setup.service.call('GET', `/v1/breaks?state=open&${query}`);
    expect(status).toBe(200);
    return body.data.map(({ id }: { id: string }) => id);
  };
  const shown = async (query: string) => {
    const { text } = await setup.analyst.get(`${breaks}?${query}`);
    return [...text.matchAll(/name="break" value="([0-9a-f-]{36})" data-key/g)].map(([, id]) => id);
  };

  it('is assigned to a person who may resolve breaks, and selects by it', async () => {
    const { analyst, viewer } = setup;
    const [mine, other] = [await fixture.addUnexpectedLine(), await fixture.addUnexpectedLine()];
    const body = { ids: [mine.id], assignee: analyst.id };
    for (const id of [viewer.id, randomUUID()])
      expect((await call('assign', { ...body, assignee: id })).status).toBe(400);
    expect((await call('assign', { ...body, ids: [mine.id, randomUUID()] })).status).toBe(404);
    expect(await actions(mine.id)).toEqual(['opened']);
    for (const _ of [1, 2]) {
      const { status, body: done } = await call('assign', body);
      expect([status, done.data]).toEqual([
        200,
        [{ id: mine.id, assignee: analyst.id, snoozedUntil: null }],
      ]);
    }
    expect(await actions(mine.id)).toEqual(['opened', 'assign']);
    expect(await listed(`assignee=${analyst.id}`)).toEqual([mine.id]);
    expect(await listed('assignee=none')).toEqual([other.id]);
    expect(await shown(`assignee=${analyst.id}`)).toEqual([mine.id]);
    // Without access to the account, a person works on nothing.
    await sql(`UPDATE operator SET disabled_at = now() WHERE id = $1`, analyst.id);
    expect(await listed('assignee=none')).toEqual([other.id, mine.id]);
    await sql(`UPDATE operator SET disabled_at = NULL WHERE id = $1`, analyst.id);
  });

  it('puts it off until a day, or until it changes', async () => {
    const [off, other] = [await fixture.addUnexpectedLine(), await fixture.addUnexpectedLine()];
    for (const wrong of ['2020-01-01', addDays(until, 400)])
      expect((await call('snooze', { ids: [off.id], until: wrong })).status).toBe(400);
    await call('snooze', { ids: [off.id], until });
    expect([await listed(''), await listed('snoozed=true'), await listed('snoozed=false')]).toEqual(
      [[other.id, off.id], [off.id], [other.id]],
    );
    const { text } = await setup.analyst.get(breaks);
    expect(text).toContain('Snoozed (1)');
    expect(text).toContain('Total: 1 · R$ 10,00');
    expect(await shown('snoozed=')).toEqual([other.id, off.id]);
    // It comes back on its day, and before once it has changed.
    await sql(`UPDATE break_plan SET snoozed_until = '2020-01-01' WHERE break_id = $1`, off.id);
    expect(await shown('')).toEqual([other.id, off.id]);
    await call('snooze', { ids: [off.id], until });
    await sql(`UPDATE break SET amount_cents = 777 WHERE id = $1`, off.id);
    expect(await shown('')).toEqual([other.id, off.id]);
    await fixture.act(off.id, 'accept');
    expect((await call('snooze', { ids: [off.id], until })).body.code).toBe('already_resolved');
  });

  it('is changed by the forms of the break and of those that are ticked', async () => {
    const { analyst, viewer, service } = setup;
    const [one, other] = [await fixture.addUnexpectedLine(), await fixture.addUnexpectedLine()];
    const list = `${breaks}?state=open&break=${other.id}`;
    const csrf = csrfOf((await analyst.get(list)).text);
    const query = `?state=open&break=${other.id}`;
    const wrong = await analyst.post(`${breaks}/snooze${query}`, {
      ...{ csrf, break: other.id, until: '31/02/2027' },
    });
    expect([wrong.status, wrong.text.includes('value="31/02/2027"')]).toEqual([400, true]);
    const done = await analyst.post(`${breaks}/snooze${query}`, {
      ...{ csrf, break: other.id, until: until.split('-').reverse().join('/') },
    });
    expect([done.status, done.location]).toEqual([
      303,
      `${breaks}?state=open&did=snooze&from=${other.id}&break=${one.id}`,
    ]);
    const ticked = `break=${one.id}&break=${other.id}`;
    expect((await analyst.get(`${breaks}/plan?${ticked}`)).text).toContain('snooze of 2');
    const assigned = await analyst.send(`${breaks}/assign?state=open`, {
      method: 'POST',
      body: new URLSearchParams(`csrf=${csrf}&${ticked}&assignee=${analyst.id}`),
      headers: { origin: service.url },
    });
    expect(assigned.location).toBe(`${breaks}?state=open&did=assign`);
    expect(await listed(`assignee=${analyst.id}`)).toEqual([other.id, one.id]);
    const { text } = await analyst.get(`${breaks}/${other.id}`);
    expect(text).toContain('Snoozed until');
    expect(text).toContain('Assigned · analyst@example.com');
    expect(
      await sql(
        `SELECT DISTINCT action, subject FROM audit_entry
         WHERE action ~ '(assign|snooze) breaks' ORDER BY action DESC`,
      ),
    ).toEqual([
      { action: 'snooze breaks', subject: `break ${other.id}` },
      { action: 'assign breaks', subject: `breaks 2 ${one.id}` },
    ]);
    expect((await viewer.get(`${breaks}/plan?${ticked}`)).status).toBe(403);
  });

  it('is changed of a whole filter after its totals, some at a time, but not of what has changed', async () => {
    const { analyst, viewer } = setup;
    await sql(
      `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence)
       SELECT $1, gen_random_uuid(), 'disputed', 'open', 'batch ' || n, 100, '{}'
       FROM generate_series(1, 52) n`,
      setup.service.accountId,
    );
    const filter = 'kind=disputed';
    const list = (await analyst.get(`${breaks}?${filter}`)).text;
    expect(list).toMatch(/On all of this filter<select.*<option value="assign">.*"snooze">/);
    const csrf = csrfOf(list);
    const begin = async (action: string) =>
      (await analyst.post(`${breaks}/batches?${filter}`, { csrf, action })).location!;
    const countOf = async (column: string) =>
      (await sql(`SELECT count(${column})::int AS count FROM break_plan`))[0]!.count as number;
    const before = await countOf('assignee_id');

    const [page = ''] = (await begin('assign')).split('?');
    expect((await analyst.get(page)).text).toContain('52 breaks · R$ 52,00');
    await sql(`UPDATE break SET amount_cents = 200 WHERE subject = 'batch 7'`);
    // Nobody is assigned who may not resolve breaks, and nothing is confirmed.
    const wrong = await analyst.post(`${page}/assign`, { csrf, assignee: viewer.id });
    expect([wrong.status, wrong.text.includes('aria-invalid')]).toEqual([400, true]);
    expect(await countOf('assignee_id')).toBe(before);
    expect((await analyst.post(`${page}/snooze`, { csrf, until })).status).toBe(404);
    await analyst.post(`${page}/assign`, { csrf, assignee: analyst.id });
    await analyst.post(`${page}/assign`, { csrf });
    expect((await analyst.get(page)).text).toContain('Done: 51. Refused: 1. Left: 0.');
    expect(await countOf('assignee_id')).toBe(before + 51);

    const [later = ''] = (await begin('snooze')).split('?');
    expect((await analyst.post(`${later}/snooze`, { csrf, until: '2020-01-01' })).status).toBe(400);
    for (const _ of [1, 2]) await analyst.post(`${later}/snooze`, { csrf, until });
    expect((await analyst.get(later)).text).toContain('Done: 52. Refused: 0. Left: 0.');
    expect(await listed(`${filter}&snoozed=false`)).toEqual([]);
    expect((await viewer.get(later)).status).toBe(403);
  });
});
