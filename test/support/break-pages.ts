// The pages of breaks, as an analyst and a viewer of the account open them.
import { expect } from '@jest/globals';
import type { PersonRole } from '../../src/access/people/roles.js';
import type { BreaksFixture } from './breaks.js';
import { csrfOf, signedInPerson, type VisitedPage } from './console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from './service-on-sandbox.js';

export const breaksPath = '/console/accounts/main/breaks';
export const breakReason = 'as agreed with the payer';

/** Amounts have a space that does not break: here it is a plain one. */
const plainly =
  <Of extends unknown[]>(ask: (...of: Of) => Promise<VisitedPage>) =>
  async (...of: Of) => {
    const page = await ask(...of);
    return { ...page, text: page.text.replaceAll('\u00a0', ' ') };
  };

async function personOf(service: ServiceOnSandbox, role: PersonRole) {
  const grant = { accountId: service.accountId, role };
  const visitor = await signedInPerson(service, `${role}@example.com`, grant);
  const { get, post, send } = visitor;
  return { ...visitor, get: plainly(get), post: plainly(post), send: plainly(send) };
}

export type BreakPagesSetup = Awaited<ReturnType<typeof startBreakPages>>;

export async function startBreakPages() {
  const service = await serviceOnSandbox();
  const analyst = await personOf(service, 'analyst');
  return { service, analyst, viewer: await personOf(service, 'viewer') };
}

export function breakForms(setup: () => BreakPagesSetup, fixture: BreaksFixture) {
  const open = async (id: string, query = '') => {
    const page = await setup().analyst.get(`${breaksPath}/${id}${query}`);
    expect(page.status).toBe(200);
    const shown = /name="shown" value="([0-9a-f]{32})"/.exec(page.text)?.[1] ?? '';
    return { ...page, csrf: csrfOf(page.text), shown };
  };
  return {
    open,
    /** Sends a form of the page of a break, as it is shown now. */
    send: async (id: string, action: string, fields: Record<string, string> = {}) => {
      const { csrf, shown } = await open(id);
      const form = { csrf, shown, reason: breakReason, ...fields };
      return setup().analyst.post(`${breaksPath}/${id}/${action}`, form);
    },
    /** A Pix that the bank shows, and that nothing explains. */
    receivePix: async (amount: number) => {
      const { service } = setup();
      const path = '/sandbox/pix/received';
      const { body } = await service.bank.call('POST', path, { body: { amount } });
      await service.sync();
      await fixture.reconcile();
      const found = await service.call('GET', `/v1/breaks?nsu=${body.nsu}&state=open`);
      return { nsu: body.nsu as number, id: found.body.data[0].id as string };
    },
    /** Each test has breaks of its own. */
    resolveAll: () =>
      fixture.sql(`UPDATE break SET state = 'resolved', resolved_at = now() WHERE state = 'open'`),
  };
}
