import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountModes } from '../../../src/outbound/operations/account-modes.service.js';
import { markedId } from '../../../src/outbound/operations/installation-mark.js';
import { recordRestore } from '../../../src/outbound/operations/restores.service.js';
import { SecondServices } from '../../../src/outbound/operations/second-services.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { newId } from '../../../src/platform/ids.js';
import { presets } from '../../../src/sandbox/presets/presets.js';
import { WebhookRegistrar } from '../../../src/webhooks/registration/webhook-registrar.service.js';
import { manualTransfer } from '../../contract/transfer-samples.js';
import { testDatabase } from '../../support/postgres.js';
import { serviceProcess, type ServiceProcess } from '../../support/service-application.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { inPublishedForm } from '../../contract/bank-under-test.js';

describe.each(presets)(
  'a second service with the same bank key, at a bank that is %s',
  (preset) => {
    let service: ServiceOnSandbox;
    const inService = <Type>(type: new (...of: never[]) => Type) =>
      service.application.get<Type>(type as never, { strict: false });
    const accountOf = () =>
      service.database.prisma.bankAccount.findUniqueOrThrow({ where: { id: service.accountId } });
    const modeOf = async () => (await accountOf()).mode;
    const release = () =>
      inService(AccountModes).change('main', {
        ...{ mode: 'live', registersWebhooks: undefined, actor: 'ana', reason: 'found and ended' },
      });
    const register = () =>
      inService(WebhookRegistrar)
        .register({ accountId: service.accountId })
        .catch((error: unknown) => error);
    /** Another service pays with this key, and this one reads and decides the debit. */
    const payElsewhere = async (key: string) => {
      const headers = { IdempotencyKey: key };
      const body = manualTransfer();
      const sent = await service.bank.call('POST', '/baas/api/v2/transfers', { headers, body });
      expect(sent.status).toBe(200);
      await service.sync();
      await inService(ReconciliationService).reconcile({ accountId: service.accountId });
      await inService(SecondServices).stopWhereSeen();
    };

    /** Starts a copy of the service that listens on another loopback address. */
    const besideCopy = async (work: (copy: ServiceProcess) => Promise<void>) => {
      const database = await testDatabase('service');
      const copy = await serviceProcess(database, await service.bank.application.getUrl());
      try {
        await copy.database.prisma.bankAccount.updateMany({
          data: { webhookAddresses: (await accountOf()).webhookAddresses },
        });
        await work(copy);
      } finally {
        await copy.stop();
        await database.drop();
      }
    };
    const registerOf = async ({ application, database }: ServiceProcess) => {
      const { id: accountId } = await database.prisma.bankAccount.findFirstOrThrow();
      const registrar = application.get(WebhookRegistrar, { strict: false });
      await registrar.register({ accountId }).catch((error: unknown) => error);
      return database.prisma.bankAccount.findFirstOrThrow();
    };
    const registeredUrls = async () => {
      const { body } = await service.bank.call('GET', '/baas/api/v1/webhooks');
      return (body as { url: string }[]).map(({ url }) => new URL(url).origin);
    };

    beforeAll(async () => {
      service = await serviceOnSandbox();
      await service.bank.call('PATCH', '/sandbox/modes', { body: { preset } });
      await service.sync();
      await register();
    });
    afterAll(() => service.stop());

    it('is reported as undetectable where the bank shows nothing of it', async () => {
      const warning = await inService(SecondServices).findWarning();
      if (preset === 'contract') expect(warning).toContain('cannot be detected');
      else expect(warning).toBeNull();
    });

    it('is found by a debit with the mark of this installation, once', async () => {
      await payElsewhere(randomUUID());
      expect(await modeOf()).toBe('live');
      const { installation } = await accountOf();
      await payElsewhere(markedId(randomUUID(), installation));
      expect(await modeOf()).toBe(preset === 'complete' ? 'stopped' : 'live');
      await release();
      await inService(SecondServices).stopWhereSeen();
      expect(await modeOf()).toBe('live');
    });

    it('is found by a registration of ours at another address, once', async () => {
      const listed = await service.bank.call('GET', '/baas/api/v1/webhooks');
      if (preset === 'contract') return expect(listed.status).toBe(404);
      const [first] = listed.body as { id: string; url: string; eventType: string }[];
      const url = `https://staging.example/webhooks/bank/main/${first!.eventType}`;
      await service.bank.call('PATCH', `/baas/api/v1/webhooks/${first!.id}`, {
        ...inPublishedForm,
        body: { ...first, url },
      });
      await register();
      expect(await modeOf()).toBe('stopped');
      await release();
      await register();
      expect(await modeOf()).toBe('live');
    });

    it('is found at another loopback address while it runs, and is no second one after', async () => {
      await service.bank.pool.query('DELETE FROM webhook_registration');
      await register();
      await besideCopy(async (copy) => {
        const { mode } = await registerOf(copy);
        if (preset === 'contract') return expect(mode).toBe('live');
        // It takes nothing over from the service that runs.
        expect(mode).toBe('stopped');
        expect(new Set(await registeredUrls())).toEqual(new Set([service.url]));
        await register();
        expect(await modeOf()).toBe('live');
      });
      const restarted = await serviceProcess(service.test, await service.bank.application.getUrl());
      try {
        // Two processes on one database are one service.
        expect((await registerOf(restarted)).mode).toBe('live');
        await register();
        expect(await modeOf()).toBe('live');
      } finally {
        await restarted.stop();
      }
    });

    it('is not what a database lost that was set back', async () => {
      const { installation } = await accountOf();
      const lost = markedId(newId(), installation);
      await recordRestore(service.database, 'ana');
      await release();
      await payElsewhere(lost);
      expect(await modeOf()).toBe('live');
      await payElsewhere(markedId(newId(), installation));
      expect(await modeOf()).toBe(preset === 'complete' ? 'stopped' : 'live');
    });
  },
);
