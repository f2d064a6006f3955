export {
  type Backend,
  type Caller,
  type Confirmations,
  type ConfirmMode,
  CurrentCaller,
  VIA_HEADER,
  withVia
} from "./Backend.ts"
export { layerMcpHttp } from "./Http.ts"
export { acceptsType, withoutNulls } from "./Messages.ts"
export { layerMcpStdio, memoryConfirmations } from "./Stdio.ts"
export { makeSubscriptions } from "./Subscriptions.ts"
export { toolNamed, tools } from "./Tools.ts"
