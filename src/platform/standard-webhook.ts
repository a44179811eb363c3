import { Webhook } from 'standardwebhooks';

/**
 * Signs and verifies per Standard Webhooks. A secret that begins with `whsec_` is a key in base64, any other a key by
 * its own bytes; throws when it is neither.
 */
export function standardWebhookOf(secret: string): Webhook {
  if (secret.startsWith('whsec_')) return new Webhook(secret);
  return new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
}
