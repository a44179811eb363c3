// Hashes the passwords of operators with argon2id. The library is loaded with the first password:
// no start waits for it. Two hashes are computed at once, so that sign-ins take neither the memory
// nor the cores that payments need, and the others wait in a short queue.
import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import { Settings } from '../../platform/settings/config.js';
import { passwordLimits } from '../../platform/limits/limits.js';
import { PasswordQueue, type PasswordSource } from './password-queue.js';

/** What OWASP asks for at least: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const retryAfterSeconds = 2;

@Injectable()
export class OperatorPasswords {
  private readonly queue = new PasswordQueue(passwordLimits);
  private placeholder: Promise<string> | null = null;

  constructor(@Inject(Settings) private readonly settings: Pick<Settings, 'sso'>) {}

  /** Whether people sign in at an identity provider, and with passwords in emergencies alone. */
  get isBreakGlass(): boolean {
    return this.settings.sso !== null;
  }

  /** Throws `not_ready` where too many passwords wait. */
  assertPlace(source: PasswordSource): void {
    if (!this.queue.hasPlace(source)) throw tooMany();
  }

  hash(password: string, source: PasswordSource): Promise<string> {
    return this.inTurn(source, () => computeHash(password));
  }

  /**
   * Without a hash the answer is false, after the same work: its duration does not show whether
   * somebody has that e-mail.
   */
  async verify(password: string, hash: string | null, source: PasswordSource): Promise<boolean> {
    const isSame = await this.inTurn(source, async () => {
      const compared = hash ?? (await (this.placeholder ??= computeHash('the password of nobody')));
      return (await load()).verify(compared, normalized(password));
    });
    return isSame && hash !== null;
  }

  private async inTurn<Result>(
    source: PasswordSource,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const mayBegin = await new Promise<boolean>((resolve) => {
      this.queue.enter(source, resolve);
    });
    if (!mayBegin) throw tooMany();
    try {
      return await work();
    } finally {
      this.queue.end();
    }
  }
}

function tooMany(): AppError {
  return new AppError('not_ready', {
    reason: 'too_many_passwords',
    public: 'Too many passwords wait to be compared.',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

const load = () => import('@node-rs/argon2');

const computeHash = async (password: string) => (await load()).hash(normalized(password), cost);

/** The same letters have the same bytes, whichever keyboard they come from. */
function normalized(password: string): string {
  return password.normalize('NFKC');
}
