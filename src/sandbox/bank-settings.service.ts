// What the control plane has set and a restart must not forget, as JSON texts by name.
import { Injectable } from '@nestjs/common';
import { findSetting, keepSetting } from './bank-settings.queries.js';
import { SandboxDatabase } from './sandbox-database.service.js';

export type SettingName = 'clock' | 'modes';

@Injectable()
export class BankSettings {
  constructor(private readonly database: SandboxDatabase) {}

  find(name: SettingName): Promise<string | null> {
    return findSetting(this.database, name);
  }

  keep(name: SettingName, value: string): Promise<void> {
    return keepSetting(this.database, name, value);
  }
}
