// How often somebody may try to sign in. The buckets are taken before the password is compared, for
// unknown e-mails too, so that neither the answer nor its duration shows who has an account.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { limitedAddressOf } from '../platform/client-address.js';
import { SecretBox } from '../platform/secret-box.js';
import { takeAttempt, type AttemptLimit } from './sign-in-limits.queries.js';

/** From one address for one e-mail, of one address, and for one e-mail from everywhere. */
const limits = {
  pair: { burst: 6, refillSeconds: 60 },
  address: { burst: 30, refillSeconds: 10 },
  email: { burst: 30, refillSeconds: 60 },
};

@Injectable()
export class SignInLimits {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * 0, or after how many seconds the next attempt may come. The narrow bucket is asked first: who
   * has used it up takes nothing from the others, and cannot keep the person out elsewhere.
   */
  async take(email: string, clientAddress: string): Promise<number> {
    const address = limitedAddressOf(clientAddress);
    const buckets: AttemptLimit[] = [
      { subject: this.subject('pair', `${email} ${address}`), ...limits.pair },
      { subject: this.subject('address', address), ...limits.address },
      { subject: this.subject('email', email), ...limits.email },
    ];
    for (const bucket of buckets) {
      const waitSeconds = await takeAttempt(this.database.sql, bucket);
      if (waitSeconds > 0) return waitSeconds;
    }
    return 0;
  }

  private subject(kind: keyof typeof limits, text: string): string {
    return this.secretBox.hash(`sign-in-${kind}`, text);
  }
}
