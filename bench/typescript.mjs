// `node --import ./bench/typescript.mjs PROGRAM.ts` runs TypeScript without a build. A bench then
// has Node's own speed, which Jest's module system would hide.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
