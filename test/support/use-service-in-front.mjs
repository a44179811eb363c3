// Runs before each file of the Jest project `contract-through-service`: the suite calls the service
// instead of the bank.
const settings = process.env.TEST_SERVICE_IN_FRONT;
if (!settings) throw new Error('service-in-front.mjs has started no service');
Object.assign(process.env, JSON.parse(settings));
