import { call, describeShapes, usage } from "./support/Shapes.ts"
import { chat, openInference, span, tool } from "./support/Spans.ts"

const json = (value: unknown) => JSON.stringify(value)

describeShapes("families that name the kind of a span after themselves", {
  "LangSmith: nodes of a graph in its metadata, usage in one text": {
    spans: [
      span(
        "graph",
        [0, 99],
        { "langsmith.span.kind": "chain", "langsmith.metadata.thread_id": "t1" },
        { name: "LangGraph" }
      ),
      span(
        "node",
        [1, 50],
        { "langsmith.span.kind": "chain", "langsmith.metadata.langgraph_checkpoint_ns": "security:1" },
        { parent: "graph", name: "security" }
      ),
      span(
        "llm",
        [2, 40],
        {
          "langsmith.span.kind": "llm",
          "langsmith.metadata.langgraph_checkpoint_ns": "security:1|model:2",
          "langsmith.metadata.ls_model_name": "gpt-4o",
          "langsmith.metadata.ls_provider": "openai",
          "langsmith.usage_metadata": json({
            ...{ input_tokens: 100, output_tokens: 10, total_tokens: 110 },
            input_token_details: { cache_read: 60 }
          }),
          "gen_ai.prompt": json({ messages: [{ role: "user", content: "ship?" }] }),
          "gen_ai.completion": json({ messages: [{ role: "assistant", content: "hold" }] })
        },
        { parent: "node", name: "ChatOpenAI" }
      ),
      span(
        "tool",
        [41, 45],
        { "langsmith.span.kind": "tool", "langsmith.metadata.langgraph_checkpoint_ns": "security:1|tools:3" },
        { parent: "node", name: "cve_scan" }
      )
    ],
    says: {
      name: "LangGraph",
      participants: ["security"],
      conversationId: "t1",
      calls: [call("security", usage(100, 10, { cacheRead: 60 }))],
      tools: [{ name: "cve_scan", agent: "security", ok: true }],
      finalAnswer: "hold"
    }
  },
  "MLflow: each value as a text of JSON": {
    spans: [
      span("desk", [0, 99], { "mlflow.spanType": '"AGENT"', "mlflow.spanInputs": json({ question: "ship?" }) }),
      span(
        "llm",
        [1, 40],
        {
          "mlflow.spanType": '"CHAT_MODEL"',
          "mlflow.llm.model": '"gpt-4o"',
          "mlflow.chat.tokenUsage": json({ input_tokens: 100, output_tokens: 10, total_tokens: 110 }),
          "mlflow.spanOutputs": json({ id: "r1", model: "gpt-4o", choices: [{ message: { content: "hold" } }] })
        },
        { parent: "desk", name: "Completions" }
      ),
      span("tool", [41, 45], { "mlflow.spanType": '"TOOL"' }, { parent: "desk", name: "cve_scan" })
    ],
    says: {
      name: "desk",
      participants: ["desk"],
      invocations: ["desk"],
      calls: [call("desk", usage(100, 10))],
      tools: [{ name: "cve_scan", agent: "desk", ok: true }],
      finalAnswer: "hold"
    }
  },
  "MLflow: parameters of the request and parts of a stream, as its release 3.17 writes them": {
    spans: [
      span("desk", [0, 99], {
        "mlflow.spanType": '"AGENT"',
        "mlflow.spanInputs": json({ question: "ship?" }),
        "mlflow.spanOutputs": '"hold"'
      }),
      span(
        "llm",
        [1, 40],
        {
          ...{ "mlflow.spanType": '"CHAT_MODEL"', "mlflow.llm.model": '"gpt-4o"', model: '"gpt-4o"' },
          "mlflow.spanInputs": json({ model: "gpt-4o", input: "ship?", instructions: "Be brief." }),
          ...{ instructions: '"hold"', tools: json([{ description: "hold" }]), prediction: '"hold"' },
          ...{ "mlflow.chat.tools": json([{ description: "hold" }]), "mlflow.spanLogLevel": "20" },
          "mlflow.chat.tokenUsage": json({
            ...{ input_tokens: 100, output_tokens: 10, total_tokens: 110, cache_read_input_tokens: 60 }
          }),
          "mlflow.spanOutputs": json({
            ...{ id: "r1", model: "gpt-4o", choices: [{ message: { content: "hold" } }] },
            usage: {
              ...{ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
              prompt_tokens_details: { cached_tokens: 60 },
              completion_tokens_details: { reasoning_tokens: 6 }
            }
          })
        },
        {
          ...{ parent: "desk", name: "Completions" },
          events: [
            { name: "mlflow.chunk.item.0", at: "1", attributes: { "mlflow.chunk.value": json({ delta: "hold" }) } }
          ]
        }
      ),
      span(
        "failing",
        [50, 60],
        { "mlflow.spanType": '"CHAT_MODEL"', model: '"gpt-4o"', "mlflow.spanInputs": json({ model: "gpt-4o" }) },
        { parent: "desk", name: "Completions", status: "error", statusMessage: "Error code: 500" }
      )
    ],
    says: {
      name: "desk",
      calls: [
        call("desk", usage(100, 10, { cacheRead: 60, reasoning: 6 })),
        { agent: "desk", model: "gpt-4o", ok: false, usage: undefined }
      ],
      finalAnswer: "hold"
    }
  },
  "An emitter of its own: usage and model in the answer of the API": {
    spans: [
      span("desk", [0, 99], { "acme.span_type": "agent" }),
      span(
        "llm",
        [1, 40],
        {
          "acme.span_type": "llm",
          "acme.outputs": json({ model: "gpt-4o", usage: { prompt_tokens: 100, completion_tokens: 10 } })
        },
        { parent: "desk" }
      )
    ],
    says: { participants: ["desk"], calls: [call("desk", usage(100, 10))] }
  }
})

describeShapes("spans that are named after a class and its method", {
  "DSPy: modules, with a tool and calls without tokens": {
    spans: [
      span("root", [0, 99], openInference("CHAIN", { "output.value": json({ answer: "hold" }) }), {
        name: "ReAct.forward"
      }),
      span("predict", [1, 40], openInference("CHAIN"), { parent: "root", name: "Predict.forward" }),
      span("llm", [2, 39], openInference("LLM", { "llm.model_name": "gpt-4o" }), {
        parent: "predict",
        name: "LM.__call__"
      }),
      span("tool", [41, 45], openInference("TOOL", { "input.value": json({ kwargs: {} }) }), {
        ...{ parent: "root", name: "cve_scan.__call__", status: "error", statusMessage: "no route" }
      }),
      span("later", [46, 47], openInference("TOOL"), { parent: "root", name: "finish.acall" })
    ],
    says: {
      ...{ name: "ReAct", participants: ["shop"] },
      calls: [call("shop", undefined)],
      tools: [
        { name: "cve_scan", agent: "shop", ok: false, error: "no route" },
        { name: "finish", agent: "shop", ok: true }
      ]
    }
  }
})

const agentSpan = openInference("AGENT")

describeShapes("agents that are named by their span alone", {
  "Decorators: the functions of a committee": {
    spans: [
      span("lead", [0, 99], agentSpan),
      span("c1", [1, 10], chat(100, 10), { parent: "lead" }),
      span("security", [20, 60], agentSpan, { parent: "lead" }),
      span("c2", [21, 50], chat(50, 5), { parent: "security" })
    ],
    says: {
      name: "lead",
      participants: ["lead", "security"],
      invocations: ["lead", "security"],
      calls: [call("lead", usage(100, 10)), call("security", usage(50, 5))],
      handoffs: ["lead > security"]
    }
  },
  "Classes and methods: no participants": {
    spans: [
      span("root", [0, 99], agentSpan, { name: "acme.agents.Desk" }),
      span("run", [1, 90], agentSpan, { parent: "root", name: "Desk::answer" }),
      span("exec", [2, 80], agentSpan, { parent: "run", name: "AgentExecutor" }),
      span("c1", [3, 10], chat(100, 10), { parent: "exec" })
    ],
    says: { participants: ["shop"], calls: [call("shop", usage(100, 10))] }
  },
  "A wrapper around agents that are named: no participant": {
    spans: [
      span("root", [0, 99], agentSpan, { name: "release committee" }),
      span("a", [1, 90], { ...agentSpan, "agent.name": "lead" }, { parent: "root" }),
      span("c1", [3, 10], chat(100, 10), { parent: "a" })
    ],
    says: { name: "release committee", participants: ["lead"], invocations: ["lead"] }
  },
  "A tool that calls an agent without a name": {
    spans: [
      span("lead", [0, 99], agentSpan),
      span("ask", [1, 90], tool("ask_security"), { parent: "lead" }),
      span("inner", [2, 80], agentSpan, { parent: "ask", name: "AgentExecutor" }),
      span("c1", [3, 10], chat(100, 10), { parent: "inner" })
    ],
    says: { participants: ["lead", "security"], calls: [call("security", usage(100, 10))] }
  }
})
