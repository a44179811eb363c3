// The headers of a signed request, per Standard Webhooks.
import { Webhook } from 'standardwebhooks';

export interface EventMessage {
  /** The event's id: a repeat has the same. */
  id: string;
  /** PostgreSQL's time of this attempt, which the signature states. */
  sentAt: Date;
  body: string;
}

/** One signature for each secret, separated by spaces: a receiver may know any of them. */
export function signedHeaders(
  { id, sentAt, body }: EventMessage,
  secrets: readonly string[],
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(id, sentAt, body))
      .join(' '),
  };
}
