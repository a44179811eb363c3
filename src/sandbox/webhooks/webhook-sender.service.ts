// Sends what is owed: at once when woken, otherwise when due. What was not answered 2xx stays owed, also over a
// restart; a delivery may come twice, never not at all.
import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { WorkerLoop } from '../../platform/worker-loop.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, SandboxSettings, type Session } from '../sandbox-database.service.js';
import type { AuthorizationScheme } from './authorization.js';
import {
  claimDue,
  findNextDue,
  markDelivered,
  markFailed,
  relaxDurability,
  type ClaimedDelivery,
} from './deliveries.queries.js';
import { retryDelayMs } from './retry-schedule.js';
import { proofHeaders } from './webhook-proof.js';

const maxInFlight = 16;
const timeoutMs = 5_000;
const leaseMs = 3 * timeoutMs;
/** Also bounds how late a jump of the bank's clock, or another process's delivery, is seen. */
const maxIdleMs = 1_000;

@Injectable()
export class WebhookSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly inFlight = new Set<Promise<void>>();
  private delivered: { id: bigint; outcome: string; at: Date }[] = [];
  private session: Session | null = null;
  private readonly loop = new WorkerLoop(() => this.look(), maxIdleMs);

  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly settings: SandboxSettings,
    private readonly modes: Modes,
  ) {
    clock.onChange(() => this.trigger());
  }

  onApplicationBootstrap(): void {
    this.trigger();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await Promise.all(this.inFlight);
    if (this.delivered.length > 0) await this.noteDelivered(await this.connection());
    this.session?.discard();
  }

  /** Looks for due deliveries now; a wake-up that comes while it looks makes it look once more. */
  trigger(): void {
    this.loop.trigger();
  }

  /** Sends what is due, and tells in how many milliseconds there is more. */
  private async look(): Promise<number> {
    try {
      const session = await this.connection();
      const limit = maxInFlight - this.inFlight.size;
      const claimed =
        limit > 0 ? await claimDue(session, { now: this.clock.now(), limit, leaseMs }) : [];
      for (const delivery of claimed) this.start(delivery);
      await this.noteDelivered(session);
      // Each delivery that ends wakes again: a full house needs to look at nothing sooner.
      if (this.inFlight.size > 0) return maxIdleMs;
      const nextDue = await findNextDue(session);
      const waitMs = nextDue ? nextDue.getTime() - this.clock.now().getTime() : maxIdleMs;
      // What is due and was not claimed is another sender's until its lease ends.
      return waitMs > 0 ? waitMs : maxIdleMs;
    } catch (error) {
      this.settings.log.warn({ err: error }, 'webhook deliveries could not be read');
      this.session?.discard();
      this.session = null;
      return maxIdleMs;
    }
  }

  private start(delivery: ClaimedDelivery): void {
    const sending = this.deliver(delivery).finally(() => {
      this.inFlight.delete(sending);
      this.trigger();
    });
    this.inFlight.add(sending);
  }

  /** Never rejects: a failure to note the outcome leaves the lease to end, and the delivery is sent again. */
  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, attempts } = delivery;
    try {
      const { isAccepted, outcome } = await send(delivery, this.proofOf(delivery));
      const at = this.clock.now();
      if (isAccepted) {
        this.delivered.push({ id, outcome, at });
        return;
      }
      // Whoever forges does not come again.
      const delayMs = delivery.is_forged ? null : retryDelayMs(attempts);
      const nextAttemptAt = delayMs === null ? null : new Date(at.getTime() + delayMs);
      await markFailed(this.database, { id, outcome, nextAttemptAt });
      this.settings.log.info(
        { deliveryId: String(id), eventType: delivery.event_type, attempts, outcome },
        nextAttemptAt ? 'webhook not accepted, will be sent again' : 'webhook given up',
      );
    } catch (error) {
      this.settings.log.warn(
        { err: error, deliveryId: String(id) },
        'webhook outcome was not noted',
      );
    }
  }

  private proofOf(delivery: ClaimedDelivery): Record<string, string> {
    const { webhookSigning } = this.modes.current;
    return proofHeaders(
      {
        scheme: delivery.authorization_scheme as AuthorizationScheme,
        authorization: delivery.authorization,
        // The registration's part makes it unique where a bank begins anew and counts from one again.
        id: `msg_${delivery.registration_id}_${delivery.id}`,
        body: delivery.body,
        sentAt: new Date(),
        isForged: delivery.is_forged,
      },
      webhookSigning,
    );
  }

  /** Of its own: a burst of requests that fills the pool must not hold notifications back. */
  private async connection(): Promise<Session> {
    if (this.session) return this.session;
    this.session = await this.database.reserve();
    await relaxDurability(this.session);
    return this.session;
  }

  private async noteDelivered(session: Session): Promise<void> {
    const delivered = this.delivered;
    if (delivered.length === 0) return;
    this.delivered = [];
    await markDelivered(session, delivered);
  }
}

async function send(
  delivery: ClaimedDelivery,
  proof: Record<string, string>,
): Promise<{ isAccepted: boolean; outcome: string }> {
  try {
    const response = await fetch(delivery.url, {
      method: 'POST',
      headers: { ...proof, 'content-type': 'application/json', 'user-agent': 'sandbox-bank' },
      body: delivery.body,
      // A redirect would carry the secret to whoever it names.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // The status is all that counts; the body, of whatever length, is left unread.
    await response.body?.cancel();
    return { isAccepted: response.ok, outcome: `HTTP ${response.status}` };
  } catch (error) {
    return { isAccepted: false, outcome: describeFailure(error) };
  }
}

/** The kind of failure alone: messages may quote the URL, which may hold a secret. */
function describeFailure(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return cause?.code ?? name ?? 'failed';
}
