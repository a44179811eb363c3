// The modes in force; everything that the contract leaves open is asked here.
import { Injectable } from '@nestjs/common';
import { defaultModes, type ModeValues } from './modes.js';

@Injectable()
export class Modes {
  readonly current: ModeValues = defaultModes;
}
