// The kinds of values that settings have. Each message names the setting and a valid value.
import { z } from 'zod';

export const port = (name: string) =>
  z
    .string()
    .regex(/^\d{1,5}$/, `${name} must be a port number from 0 to 65535.`)
    .transform(Number)
    .refine((value) => value <= 65_535, `${name} must be a port number from 0 to 65535.`);

export const httpUrl = (name: string) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
      `${name} must be an http or https URL.`,
    )
    .transform((value) => value.replace(/\/+$/, ''));

export const urlOf = (name: string, protocols: RegExp, example: string) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.test(new URL(value).protocol),
      `${name} must be a URL such as ${example}.`,
    );

export const postgresUrl = (name: string) =>
  urlOf(name, /^postgres(ql)?:$/, 'postgresql://user:password@host:5432/database');

export const secret = (name: string, minLength: number) =>
  z
    .string()
    .regex(/^[\x21-\x7e]+$/, `${name} must be printable characters without spaces.`)
    .min(minLength, `${name} must have at least ${minLength} characters.`);

export const yesOrNo = (name: string) =>
  z
    .enum(['true', 'false'], `${name} must be true or false.`)
    .transform((value) => value === 'true');

export const count = (name: string, minimum: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${name} must be a whole number, at least ${minimum}.`)
    .transform(Number)
    .refine((value) => value >= minimum, `${name} must be a whole number, at least ${minimum}.`);
