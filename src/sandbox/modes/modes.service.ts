// The modes in force; everything that the contract leaves open is asked here.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { parseJson, stringifyJson } from '../../platform/exact-json.js';
import { BankSettings } from '../bank-settings.service.js';
import { defaultModes, modes, type ModeChanges, type ModeValues } from './modes.schema.js';

@Injectable()
export class Modes {
  private values: ModeValues = defaultModes;

  constructor(private readonly settings: BankSettings) {}

  get current(): Readonly<ModeValues> {
    return this.values;
  }

  /** Reads what a test left; a mode that is new since has its default. */
  async load(): Promise<void> {
    const kept = await this.settings.find('modes');
    if (kept === null) return;
    const defaults = z.encode(modes, defaultModes);
    this.values = z.decode(modes, { ...defaults, ...(parseJson(kept) as object) });
  }

  async change({ chargeStatus, ...changes }: ModeChanges): Promise<Readonly<ModeValues>> {
    const words = { ...this.values.chargeStatus, ...defined(chargeStatus ?? {}) };
    await this.keep({ ...this.values, ...defined(changes), chargeStatus: words });
    return this.values;
  }

  /** For a bank that begins anew: its setting went with the old one. */
  restoreDefaults(): void {
    this.values = defaultModes;
  }

  private async keep(values: ModeValues): Promise<void> {
    await this.settings.keep('modes', stringifyJson(z.encode(modes, values)));
    this.values = values;
  }
}

/** The properties that have a value: what is left out of a change must not wipe what is there. */
function defined<Values extends object>(
  values: Values,
): { [Key in keyof Values]: NonNullable<Values[Key]> | Extract<Values[Key], null> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as never;
}
