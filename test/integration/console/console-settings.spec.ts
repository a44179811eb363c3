// The pages of the account and of its API keys: who may change what, and that no secret is shown,
// stored in the audit, or put into an address.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import {
  csrfOf,
  signedInPerson,
  personOfEachRole,
  type SignedIn,
} from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const pages = '/console/accounts/main';

describe('the settings of an account', () => {
  let service: ServiceApplication;
  let otherSlug: string;
  let owner: SignedIn;
  let people: Record<PersonRole, SignedIn>;

  const update = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const person = (email: string, role: PersonRole, account: number | null) =>
    signedInPerson(service, email, { accountId: account, role });
  const { addAccount, asOperator, statusWith } = operatorOf(() => service);

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    const accountId = (await operators.findAccountId('main')) ?? 0;
    otherSlug = (await addAccount({ apiKey: 'sandbox-dev-key-2' })).slug;
    people = await personOfEachRole(service, accountId);
    owner = await person('owner@example.com', 'admin', null);
  }, 60_000);
  afterAll(() => service.stop());

  const auditText = async () =>
    JSON.stringify((await update('SELECT action, subject, reason, shown FROM audit_entry')).rows);
  const accountOf = async (slug: string) =>
    service.database.prisma.bankAccount.findUniqueOrThrow({ where: { slug } });

  describe('the page of the account', () => {
    it('shows its facts to everyone, and forms to admins, without any secret', async () => {
      const viewer = await people.viewer.get(`${pages}/account`);
      expect(viewer.text).toContain('Sandbox bank');
      expect(viewer.text).toContain('The bank&#39;s API key'.replace('&#39;', "'"));
      expect(viewer.text).not.toContain('/account/mode');
      const admin = await people.admin.get(`${pages}/account`, { 'accept-language': 'pt-BR' });
      expect(admin.text).toContain('Mudar o modo');
      expect(admin.text).not.toContain('sandbox-dev-key');
      expect(admin.text).not.toContain('/account/new');
      expect((await owner.get(`${pages}/account`)).text).toContain('/account/new');
    });

    it('changes name and weight, and says what is wrong with a field', async () => {
      const path = `${pages}/account`;
      const changed = await people.admin.submit(path, { name: 'Loja <b>Um</b>', weight: '7' });
      expect([changed.status, changed.location]).toEqual([303, `${path}?saved=1`]);
      expect(await accountOf('main')).toMatchObject({ name: 'Loja <b>Um</b>', weight: 7 });
      expect((await people.viewer.get(path)).text).not.toContain('<b>Um');
      const wrong = await people.admin.submit(path, { name: '', weight: '101' });
      expect(wrong.status).toBe(400);
      expect(wrong.text).toContain('Must be from 1 to 100.');
      expect(wrong.text).toContain('value="101"');
    });

    it.each(['account', 'account/details', 'account/credentials', 'account/mode', 'account/new'])(
      'takes no change of %s from others than admins, nor without a recent code',
      async (path) => {
        const before = await accountOf('main');
        const form = { name: 'x', weight: '1', mode: 'stopped', reason: 'x', slug: 'x' };
        for (const role of ['viewer', 'analyst', 'approver'] as const)
          expect((await people[role].submit(`${pages}/${path}`, form)).status).toBe(403);
        await update("UPDATE operator_session SET code_at = code_at - interval '1 hour'");
        const late = await people.admin.submit(`${pages}/${path}`, form);
        expect([late.status, late.text.includes('name="held"')]).toEqual([403, true]);
        await update('UPDATE operator_session SET code_at = clock_timestamp()');
        expect(await accountOf('main')).toEqual(before);
      },
    );

    it('changes the mode with a reason, and shows who did it', async () => {
      const path = `${pages}/account/mode`;
      expect((await people.admin.submit(path, { mode: 'stopped' })).status).toBe(400);
      expect((await accountOf('main')).mode).toBe('live');
      const form = { mode: 'stopped', reason: 'bank says so', shown: 'live' };
      expect((await people.admin.submit(path, form)).status).toBe(303);
      expect((await accountOf('main')).mode).toBe('stopped');
      const shown = await people.admin.get(`${pages}/account`);
      expect(shown.text).toContain('bank says so');
      expect(shown.text).toContain(`>${people.admin.email}</td>`);
      const masked = await people.viewer.get(`${pages}/account`);
      expect(masked.text).toContain('>a***</td>');
      expect(masked.text).not.toContain(people.admin.email);
      expect(await auditText()).toContain('"reason":"bank says so","shown":"live"');
      await people.admin.submit(path, { mode: 'live', reason: 'over' });
      expect((await accountOf('main')).mode).toBe('live');
    });

    it('leads back to the page from a form that was refused, and refused again', async () => {
      const page = `${pages}/account`;
      const path = `${page}/mode`;
      const csrf = csrfOf((await people.admin.get(page)).text);
      const refuse = (fields: Record<string, string>, from: string) =>
        people.admin.post(
          path,
          { csrf, mode: 'stopped', ...fields },
          { referer: service.url + from },
        );
      for (const { status, text } of [
        await refuse({}, page),
        await refuse({ cameFrom: page }, path),
      ]) {
        expect(status).toBe(400);
        expect(text).toContain(`name="next" value="${page}"`);
        expect(text).toContain(`name="cameFrom" value="${page}"`);
      }
      const foreign = await refuse({ cameFrom: '//evil.example' }, path);
      expect(foreign.text).not.toContain('evil.example');
    });

    it('changes the bank details as a whole, and removes them', async () => {
      const path = `${pages}/account/details`;
      const details = {
        ...{ bankCode: '341', ispb: '60701190', bankName: 'Itaú', branch: '12' },
        ...{ accountNumber: '34567', holderName: 'Padaria', holderTaxId: '11.222.333/0001-81' },
      };
      const wrong = await people.admin.submit(path, { ...details, branch: 'x', bankCode: '000' });
      expect(wrong.status).toBe(400);
      expect(wrong.text).toContain('Must be 1 to 5 digits.');
      expect(wrong.text).toContain('value="Padaria"');
      expect((await people.admin.submit(path, details)).status).toBe(303);
      expect((await accountOf('main')).bankDetails).toMatchObject({
        holderTaxId: '11222333000181',
      });
      expect((await people.admin.submit(path, {})).status).toBe(303);
      expect((await accountOf('main')).bankDetails).toBeNull();
    });
  });

  describe('the credentials', () => {
    it('of the settings are changed there only', async () => {
      const answer = await people.admin.submit(`${pages}/account/credentials`, {
        apiKey: 'new-key',
      });
      expect([answer.status, answer.text.includes('come from the settings')]).toEqual([409, true]);
    });

    it('of an added account are replaced, once it is confirmed to be the same account', async () => {
      const path = `/console/accounts/${otherSlug}/account`;
      const before = await accountOf(otherSlug);
      const form = { apiKey: 'another-secret-key', webhookSecret: 'w'.repeat(20) };
      const doubted = await owner.submit(`${path}/credentials`, form);
      expect(doubted.status).toBe(409);
      expect(doubted.text).toContain('may be of another account at the bank');
      expect(doubted.text).not.toContain('another-secret-key');
      expect(doubted.text).not.toContain('isKeyUntried');
      const same = { ...form, isSameBankAccount: 'yes' };
      const refused = await owner.submit(`${path}/credentials`, same);
      expect([refused.status, refused.text.includes('The bank refuses it.')]).toEqual([422, true]);
      expect((await accountOf(otherSlug)).credentials).toBe(before.credentials);
      expect(refused.text).toContain('name="isKeyUntried"');
      const confirmed = { ...same, isKeyUntried: 'yes' };
      expect((await owner.submit(`${path}/credentials`, confirmed)).status).toBe(303);
      const after = await accountOf(otherSlug);
      expect(after.credentials).not.toBe(before.credentials);
      const { text } = await owner.get(path);
      expect(text).toContain("Secret of the bank's webhooks");
      expect(text).not.toContain('another-secret-key');
      const removal = { remove: 'webhookSecret' };
      expect((await owner.submit(`${path}/credentials`, removal)).status).toBe(303);
      expect((await owner.get(path)).text).not.toContain('value="webhookSecret"');
      const pem = { clientCertificate: 'no certificate' };
      const wrong = await owner.submit(`${path}/credentials`, pem);
      expect(wrong.text).toContain('Must be one or more certificates');
      expect(await auditText()).not.toMatch(/another-secret-key|wwww/);
    });

    it('of another account cannot be reached by an admin of one account', async () => {
      const path = `/console/accounts/${otherSlug}/account`;
      expect((await people.admin.get(path)).status).toBe(404);
      expect((await people.admin.submit(`${path}/credentials`, { apiKey: 'x' })).status).toBe(404);
    });
  });

  describe('a new account', () => {
    it('is added by an admin of every account only', async () => {
      const path = `${pages}/account/new`;
      const tried = { slug: 'filial', name: 'Filial', mode: 'live', apiKey: 'key-of-filial' };
      const refused = await owner.submit(path, tried);
      expect(refused.text).toMatch(/name="apiKey"[^>]*aria-invalid.*The bank refuses it\./);
      const form = { ...tried, isKeyUntried: 'yes' };
      expect((await people.admin.get(path)).status).toBe(403);
      expect((await people.admin.submit(path, form)).status).toBe(403);
      const added = await owner.submit(path, form);
      expect(added.location).toBe('/console/accounts/filial/account');
      expect((await owner.get(added.location ?? '')).status).toBe(200);
      expect(await accountOf('filial')).toMatchObject({ name: 'Filial', origin: 'api' });
      const again = await owner.submit(path, form);
      expect(again.text).toContain('Another account already has this slug.');
      const known = await owner.submit(path, { ...form, slug: 'filial-2' });
      expect(known.text).toContain('Another account already has this key');
      const wrong = await owner.submit(path, { ...form, slug: 'Não' });
      expect(wrong.text).toContain('Must be lower-case letters');
      expect(wrong.text).not.toContain('key-of-filial');
    });
  });

  describe('an API key', () => {
    const path = `${pages}/keys`;
    const newForm = () => ({ formId: randomUUID() });
    const keyIn = (text: string) => /<code>(ck_[\w-]+)<\/code>/.exec(text)?.[1] ?? '';
    const newestId = async () =>
      (await service.database.prisma.apiKey.findFirstOrThrow({ orderBy: { id: 'desc' } })).id;

    it('is created with scopes, shown once, works, and stands in no audit', async () => {
      const page = await people.admin.submit(path, {
        ...{ name: 'ERP', kind: 'api', scope: 'read' },
        ...newForm(),
      });
      const key = keyIn(page.text);
      expect(page.status).toBe(200);
      expect(await statusWith(key)).toBe(200);
      const { text } = await people.admin.get(path, { 'accept-language': 'pt' });
      expect(text).not.toContain(key);
      expect(text).toContain(`…${key.slice(-4)}`);
      expect(text).toContain('Dados pessoais');
      expect(await auditText()).not.toContain(key);
    });

    it('is made once by a form that is sent twice', async () => {
      const { text } = await people.admin.get(path);
      const formId = /name="formId" value="([^"]+)"/.exec(text)?.[1] ?? '';
      const form = { name: 'twice', kind: 'api', scope: 'read', formId };
      const before = await service.database.prisma.apiKey.count();
      const sent = [await people.admin.submit(path, form), await people.admin.submit(path, form)];
      expect(keyIn(sent[0]!.text)).toMatch(/^ck_/);
      expect(keyIn(sent[1]!.text)).toBe(keyIn(sent[0]!.text));
      expect(await service.database.prisma.apiKey.count()).toBe(before + 1);
      const other = await people.admin.submit(path, { ...form, name: 'changed' });
      expect([other.status, other.text.includes('has made another key')]).toEqual([409, true]);
    });

    it.each([
      [{ name: '', scope: 'read' }, 'Give a name of at most 100 characters.'],
      [{ name: 'x' }, 'Tick at least one scope.'],
      [{ name: 'x', scope: 'read', kind: 'partner' }, 'A partner key can only have'],
    ])('is not created of %p', async (form, said) => {
      const before = await service.database.prisma.apiKey.count();
      const page = await people.admin.submit(path, {
        ...{ kind: 'api', ...newForm() },
        ...form,
      } as never);
      expect([page.status, page.text.includes(said)]).toEqual([400, true]);
      expect(await service.database.prisma.apiKey.count()).toBe(before);
    });

    it('is rotated with an overlap, and revoked at once with a reason', async () => {
      const created = await people.admin.submit(path, {
        ...{ name: 'Loja', kind: 'api', scope: 'read' },
        ...newForm(),
      });
      const old = keyIn(created.text);
      const oldId = await newestId();
      const rotated = await people.admin.submit(`${path}/${oldId}/rotate`, { overlap: '3600' });
      const successor = keyIn(rotated.text);
      expect([await statusWith(old), await statusWith(successor)]).toEqual([200, 200]);
      const again = await people.admin.submit(`${path}/${oldId}/rotate`, { overlap: '3600' });
      expect(again.text).toContain('The key was already rotated or revoked.');
      expect((await people.admin.submit(`${path}/${oldId}/rotate`, { overlap: '5' })).status).toBe(
        400,
      );

      const id = await newestId();
      expect((await people.admin.submit(`${path}/${id}/revoke`)).status).toBe(400);
      expect(await statusWith(successor)).toBe(200);
      const revoked = await people.admin.submit(`${path}/${id}/revoke`, { reason: 'leaked' });
      expect(revoked.location).toBe(`${path}?revoked=1`);
      expect(await statusWith(successor)).toBe(401);
      expect(await auditText()).toContain('"reason":"leaked"');
    });

    it('of the settings cannot be changed here, and one of another account does not exist', async () => {
      const { prisma } = service.database;
      const ofSettings = await prisma.apiKey.findFirstOrThrow({ where: { origin: 'settings' } });
      const refused = await people.admin.submit(`${path}/${ofSettings.id}/revoke`, { reason: 'x' });
      expect([refused.status, refused.text.includes('comes from the settings')]).toEqual([
        409,
        true,
      ]);
      const { body } = await asOperator('POST', `/v1/accounts/${otherSlug}/keys`, {
        name: 'elsewhere',
        scopes: ['read'],
      });
      for (const action of ['rotate', 'revoke'])
        expect(
          (await people.admin.submit(`${path}/${body.id}/${action}`, { reason: 'x', overlap: '0' }))
            .status,
        ).toBe(404);
      expect(await statusWith(body.key as string)).toBe(200);
    });

    it('that is the only usable one is revoked with a warning', async () => {
      const other = `/console/accounts/${otherSlug}/keys`;
      expect((await owner.get(other)).text).toContain('It is the only usable key');
      expect((await people.admin.get(path)).text).not.toContain('It is the only usable key');
    });

    it('is seen and managed by admins only', async () => {
      const before = await service.database.prisma.apiKey.count();
      for (const role of ['viewer', 'analyst', 'approver'] as const) {
        expect((await people[role].get(path)).status).toBe(403);
        const form = { name: 'x', kind: 'api', scope: 'read' };
        expect((await people[role].submit(path, form)).status).toBe(403);
      }
      expect(await service.database.prisma.apiKey.count()).toBe(before);
    });
  });
});
