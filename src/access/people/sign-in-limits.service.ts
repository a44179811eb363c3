// How often somebody may try to sign in. The attempts are taken before the password is compared,
// for unknown e-mails too, so that neither the answer nor its duration shows who has an account. An
// address from which the person has signed in has attempts of its own: strangers elsewhere, however
// many, cannot use them up.
import { Injectable } from '@nestjs/common';
import { Database, type SqlTx } from '../../platform/postgres/database.service.js';
import { limitedAddressOf } from '../../platform/http/client-address.js';
import { signInLimits } from '../../platform/limits/limits.js';
import { takeAttempts } from '../../platform/limits/shared-limits.queries.js';
import { SecretBox } from '../../platform/secret-box.js';
import { rememberAddress } from './operators.queries.js';

const maxAddresses = 10;
/** Hexadecimal digits that name one of the buckets of strangers: 65,536 of each kind. */
const bucketDigits = 4;

/** Who tries to sign in. */
export interface SigningClient {
  email: string;
  address: string;
  /** Whether the person with that e-mail has signed in from there. */
  isKnown: boolean;
}

@Injectable()
export class SignInLimits {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  async clientOf(email: string, clientAddress: string): Promise<SigningClient> {
    const address = limitedAddressOf(clientAddress);
    const subject = this.knownSubject(email, address);
    const known = await this.database.prisma.operatorAddress.findUnique({ where: { subject } });
    return { email, address, isKnown: known !== null };
  }

  /** 0, or after how many seconds the next attempt may come: then nothing was taken or written. */
  take({ email, address, isKnown }: SigningClient): Promise<number> {
    const wanted = isKnown
      ? [{ subject: this.knownSubject(email, address), ...signInLimits.pair }]
      : [
          { subject: this.bucket('pair', `${email} ${address}`), ...signInLimits.pair },
          { subject: this.bucket('address', address), ...signInLimits.address },
          { subject: this.bucket('email', email), ...signInLimits.email },
        ];
    return takeAttempts(this.database.sql, wanted);
  }

  /** The person has given a right code from there. */
  async remember(
    tx: SqlTx,
    { operatorId, email }: { operatorId: string; email: string },
    clientAddress: string,
  ): Promise<void> {
    const subject = this.knownSubject(email, limitedAddressOf(clientAddress));
    await rememberAddress(tx, { subject, operatorId, max: maxAddresses });
  }

  private knownSubject(email: string, address: string): string {
    return this.secretBox.hash('sign-in-known', `${email} ${address}`);
  }

  /** Strangers may share a bucket: their e-mails and addresses are without number, rows are not. */
  private bucket(kind: keyof typeof signInLimits, text: string): string {
    return `${kind} ${this.secretBox.hash(`sign-in-${kind}`, text).slice(0, bucketDigits)}`;
  }
}
