// The modes in force; everything that the contract leaves open is asked here.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { parseJson, stringifyJson } from '../../platform/exact-json.js';
import { BankSettings, SerialQueue } from '../bank-settings.service.js';
import { defaultModes, modes, type ModeChanges, type ModeValues } from './modes.schema.js';

@Injectable()
export class Modes {
  private values: ModeValues = defaultModes;
  private readonly changes = new SerialQueue();

  constructor(private readonly settings: BankSettings) {}

  get current(): Readonly<ModeValues> {
    return this.values;
  }

  /** Reads what a test left; a mode that is new since has its default, and one that is gone is forgotten. */
  async load(): Promise<void> {
    const kept = await this.settings.find('modes');
    if (kept === null) return;
    const defaults = z.encode(modes, defaultModes);
    const { chargeStatus, ...values } = parseJson(kept) as { chargeStatus?: object };
    const words = known({ ...defaults.chargeStatus, ...chargeStatus }, defaults.chargeStatus);
    this.values = z.decode(modes, {
      ...known({ ...defaults, ...values }, defaults),
      chargeStatus: words,
    });
  }

  /** One change after another: each goes out from what the one before has left. */
  change({ chargeStatus, ...changes }: ModeChanges): Promise<Readonly<ModeValues>> {
    return this.changes.run(async () => {
      const words = { ...this.values.chargeStatus, ...defined(chargeStatus ?? {}) };
      const values = { ...this.values, ...defined(changes), chargeStatus: words };
      await this.settings.keep('modes', stringifyJson(z.encode(modes, values)));
      this.values = values;
      return values;
    });
  }

  /** For a bank that begins anew: its setting went with the old one. */
  restoreDefaults(): void {
    this.values = defaultModes;
  }
}

/** The properties that there still are. */
function known<Values extends object>(kept: Values, defaults: Values): Values {
  return Object.fromEntries(Object.entries(kept).filter(([name]) => name in defaults)) as Values;
}

/** The properties that have a value: what is left out of a change must not wipe what is there. */
function defined<Values extends object>(
  values: Values,
): { [Key in keyof Values]: NonNullable<Values[Key]> | Extract<Values[Key], null> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as never;
}
