// Settings that the control plane has changed: JSON texts by name. They are stored so that a
// restart loads them again.
import { Injectable } from '@nestjs/common';
import { findBankSetting, storeBankSetting } from './sandbox.queries.js';
import { SandboxDatabase } from './sandbox-database.service.js';

export type BankSettingName = 'clock' | 'modes';

@Injectable()
export class BankSettings {
  constructor(private readonly database: SandboxDatabase) {}

  find(name: BankSettingName): Promise<string | null> {
    return findBankSetting(this.database, name);
  }

  store(name: BankSettingName, value: string): Promise<void> {
    return storeBankSetting(this.database, name, value);
  }
}

/** Runs changes of a setting one after another, in the order of the calls. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    // A failure is reported to its own caller only; the next work still runs.
    this.last = result.catch(() => undefined);
    return result;
  }
}
