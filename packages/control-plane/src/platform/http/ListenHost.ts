import * as Context from "effect/Context"

/** The address on which the service listens, for receivers beside its HTTP server. */
export class ListenHost extends Context.Service<ListenHost, string>()("runplane/control-plane/ListenHost") {}
