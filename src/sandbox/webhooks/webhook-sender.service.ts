// Sends pending webhook deliveries: at once when triggered, otherwise when they are due. A delivery
// without a 2xx response stays pending, also over a restart. Delivery is at least once.
import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { WorkerLoop } from '../../platform/queue/worker-loop.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import {
  SandboxDatabase,
  SandboxSettings,
  type ReservedConnection,
} from '../sandbox-database.service.js';
import {
  claimDueDeliveries,
  findNextDeliveryTime,
  markDeliveriesDelivered,
  markDeliveryFailed,
  relaxDurability,
  type ClaimedDelivery,
} from './deliveries.queries.js';
import { retryDelayMs } from './retry-schedule.js';
import { authenticationHeaders } from './webhook-authentication.js';

const maxInFlight = 16;
const timeoutMs = 5_000;
const leaseMs = 3 * timeoutMs;
/** The longest pause. After it, deliveries that another process left are found. */
const maxIdleMs = 5_000;
const retryMs = 1_000;

@Injectable()
export class WebhookSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly inFlight = new Set<Promise<void>>();
  private delivered: { id: bigint; outcome: string; at: Date }[] = [];
  private session: ReservedConnection | null = null;
  private readonly loop = new WorkerLoop(() => this.sendDue(), maxIdleMs);

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
    if (this.delivered.length > 0) await this.recordDelivered(await this.connection());
    this.session?.discard();
  }

  /** Runs the loop now. A trigger during a run causes one more run. */
  trigger(): void {
    this.loop.trigger();
  }

  /** Starts the due deliveries and returns the milliseconds until the next run. */
  private async sendDue(): Promise<number> {
    try {
      const session = await this.connection();
      const limit = maxInFlight - this.inFlight.size;
      const claimed =
        limit > 0
          ? await claimDueDeliveries(session, { now: this.clock.now(), limit, leaseMs })
          : [];
      for (const delivery of claimed) this.start(delivery);
      await this.recordDelivered(session);
      // Each delivery that ends triggers the loop, so an earlier run is not needed.
      if (this.inFlight.size > 0) return retryMs;
      const nextDue = await findNextDeliveryTime(session);
      const waitMs = nextDue ? nextDue.getTime() - this.clock.now().getTime() : maxIdleMs;
      // A due delivery that was not claimed belongs to another sender until its lease ends.
      return waitMs > 0 ? waitMs : retryMs;
    } catch (error) {
      this.settings.log.warn({ err: error }, 'webhook deliveries could not be read');
      this.session?.discard();
      this.session = null;
      return retryMs;
    }
  }

  private start(delivery: ClaimedDelivery): void {
    const sending = this.deliver(delivery).finally(() => {
      this.inFlight.delete(sending);
      this.trigger();
    });
    this.inFlight.add(sending);
  }

  /**
   * Never rejects. When the outcome cannot be recorded, the lease ends and the delivery is sent
   * again.
   */
  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, attempts } = delivery;
    try {
      const { isAccepted, outcome } = await send(delivery, this.headersOf(delivery));
      const at = this.clock.now();
      if (isAccepted) {
        this.delivered.push({ id, outcome, at });
        return;
      }
      // A forgery is sent once.
      const delayMs = delivery.isForged ? null : retryDelayMs(attempts);
      const nextAttemptAt = delayMs === null ? null : new Date(at.getTime() + delayMs);
      await markDeliveryFailed(this.database, { id, outcome, nextAttemptAt });
      this.settings.log.info(
        { deliveryId: String(id), eventType: delivery.eventType, attempts, outcome },
        nextAttemptAt ? 'webhook not accepted, will be retried' : 'webhook dead-lettered',
      );
    } catch (error) {
      this.settings.log.warn(
        { err: error, deliveryId: String(id) },
        'webhook outcome could not be recorded',
      );
    }
  }

  private headersOf(delivery: ClaimedDelivery): Record<string, string> {
    // Delivery ids begin at 1 again after a reset; the registration's id makes this one unique.
    const id = `msg_${delivery.registrationId}_${delivery.id}`;
    const scheme = delivery.authorizationScheme;
    const authenticated = { ...delivery, id, scheme, sentAt: new Date() };
    return authenticationHeaders(authenticated, this.modes.current.webhookSigning);
  }

  /** A connection outside the pool, so that a burst of requests cannot delay webhooks. */
  private async connection(): Promise<ReservedConnection> {
    if (this.session) return this.session;
    this.session = await this.database.reserve();
    await relaxDurability(this.session);
    return this.session;
  }

  private async recordDelivered(session: ReservedConnection): Promise<void> {
    const delivered = this.delivered;
    if (delivered.length === 0) return;
    this.delivered = [];
    await markDeliveriesDelivered(session, delivered);
  }
}

async function send(
  delivery: ClaimedDelivery,
  authentication: Record<string, string>,
): Promise<{ isAccepted: boolean; outcome: string }> {
  try {
    const response = await fetch(delivery.url, {
      method: 'POST',
      headers: {
        ...authentication,
        'content-type': 'application/json',
        'user-agent': 'sandbox-bank',
      },
      body: delivery.body,
      // A redirect could send the secret to any host.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Only the status counts. The body may be of any length and is not read.
    await response.body?.cancel();
    return { isAccepted: response.ok, outcome: `HTTP ${response.status}` };
  } catch (error) {
    return { isAccepted: false, outcome: describeFailure(error) };
  }
}

/** Only the kind of the failure: error messages may quote the URL, which may contain a secret. */
function describeFailure(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return cause?.code ?? name ?? 'failed';
}
