/** The framework of an agent that is called by A2A: no process is started for it. */
export const A2A = "a2a"
