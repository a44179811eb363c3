// Owns the current modes, in memory and in the bank's settings.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Preset } from '../presets/presets.js';
import { BankSettings, SerialQueue } from '../bank-settings.service.js';
import { SandboxSettings } from '../sandbox-database.service.js';
import { modes, modesOfPreset, type ModeChanges, type ModeValues } from './modes.schema.js';

@Injectable()
export class Modes {
  private values: ModeValues;
  private readonly changes = new SerialQueue();

  constructor(
    private readonly settings: BankSettings,
    private readonly sandbox: SandboxSettings,
  ) {
    this.values = modesOfPreset[sandbox.preset];
  }

  get current(): Readonly<ModeValues> {
    return this.values;
  }

  /** Reads the stored modes. A missing mode gets its default; an unknown one is dropped. */
  async load(): Promise<void> {
    const stored = await this.settings.find('modes');
    if (stored === null) return;
    const { chargeStatus, ...values } = stored as { preset?: Preset; chargeStatus?: object };
    const defaults = z.encode(modes, modesOfPreset[values.preset ?? this.sandbox.preset]);
    const words = known({ ...defaults.chargeStatus, ...chargeStatus }, defaults.chargeStatus);
    this.values = z.decode(modes, {
      ...known({ ...defaults, ...values }, defaults),
      chargeStatus: words,
    });
  }

  /**
   * Changes run one after another, each from the result of the one before, or from a preset that it
   * names.
   */
  change(changes: ModeChanges): Promise<Readonly<ModeValues>> {
    return this.changes.run(async () => {
      const values = changed(this.values, changes);
      await this.settings.store('modes', z.encode(modes, values));
      this.values = values;
      return values;
    });
  }

  /** Changes modes while the process runs, and stores nothing. */
  override(changes: ModeChanges): void {
    this.values = changed(this.values, changes);
  }

  /** For a reset of the bank, which has already deleted the stored setting. */
  restoreDefaults(): void {
    this.values = modesOfPreset[this.sandbox.preset];
  }
}

function changed(current: ModeValues, { chargeStatus, ...changes }: ModeChanges): ModeValues {
  const before = changes.preset ? modesOfPreset[changes.preset] : current;
  const words = { ...before.chargeStatus, ...defined(chargeStatus ?? {}) };
  return { ...before, ...defined(changes), chargeStatus: words };
}

/** The stored properties that the defaults also have. */
function known<Values extends object>(stored: Values, defaults: Values): Values {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => name in defaults)) as Values;
}

/** The properties that have a value, because a property left out of a change must stay as it is. */
function defined<Values extends object>(
  values: Values,
): { [Key in keyof Values]: NonNullable<Values[Key]> | Extract<Values[Key], null> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as never;
}
