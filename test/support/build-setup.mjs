// Runs before the tests of the whole process: builds the service, and starts what all tests need.
import { prepare } from '../../scripts/prepare.mjs';
import globalSetup from './global-setup.mjs';

export default async function buildSetup() {
  await prepare();
  await globalSetup();
}
