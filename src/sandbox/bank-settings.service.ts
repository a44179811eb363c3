// Settings that the control plane has changed. They are stored so that a restart loads them again.
import { Injectable } from '@nestjs/common';
import type { BankSetting } from '../generated/sandbox/client.js';
import { SandboxDatabase } from './sandbox-database.service.js';

export type BankSettingName = 'clock' | 'modes';

@Injectable()
export class BankSettings {
  constructor(private readonly database: SandboxDatabase) {}

  /** The stored JSON value with exact numbers, or null. */
  async find(name: BankSettingName): Promise<unknown> {
    return (await this.database.findRow<BankSetting>('bank_setting', { name }))?.value ?? null;
  }

  async store(name: BankSettingName, value: object): Promise<void> {
    const onConflict = 'ON CONFLICT (name) DO UPDATE SET value = excluded.value';
    await this.database.insert('bank_setting', { name, value }, onConflict);
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
