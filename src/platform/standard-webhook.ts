import { Webhook } from 'standardwebhooks';

/**
 * Signs and verifies by Standard Webhooks. A secret that begins with `whsec_` is a base64 key; any
 * other secret is used as its UTF-8 bytes. Throws when the secret is empty or not valid base64
 * after `whsec_`.
 */
export function standardWebhookOf(secret: string): Webhook {
  if (secret.startsWith('whsec_')) return new Webhook(secret);
  return new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
}
