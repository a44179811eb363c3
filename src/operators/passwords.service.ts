// Hashes the passwords of operators with argon2id. The library is loaded with the first password:
// no start waits for it. Two hashes are computed at once, so that sign-ins take neither the memory
// nor the cores that payments need.
import { Injectable } from '@nestjs/common';
import { Slots } from '../platform/slots.js';

/** What OWASP asks for at least: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

@Injectable()
export class OperatorPasswords {
  private readonly slots = new Slots(2);
  private placeholder: Promise<string> | null = null;

  hash(password: string): Promise<string> {
    return this.slots.run(async () => (await load()).hash(normalized(password), cost));
  }

  /**
   * Without a hash the answer is false, after the same work: its duration does not show whether
   * somebody has that e-mail.
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const compared = hash ?? (await (this.placeholder ??= this.hash('the password of nobody')));
    const isSame = await this.slots.run(async () =>
      (await load()).verify(compared, normalized(password)),
    );
    return isSame && hash !== null;
  }
}

const load = () => import('@node-rs/argon2');

/** The same letters have the same bytes, whichever keyboard they come from. */
function normalized(password: string): string {
  return password.normalize('NFKC');
}
