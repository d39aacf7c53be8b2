"""Stand-in."""
from llvmlite import ir
def _m(kind):
    if isinstance(kind, ir.VectorType): return f"v{kind.count}{_m(kind.element)}"
    return "f32" if isinstance(kind, ir.FloatType) else "f64"
def _i(name):
    def emit(b, x):
        full=f"llvm.{name}.{_m(x.type)}"
        f=b.module.globals.get(full) or ir.Function(b.module, ir.FunctionType(x.type,[x.type]), full)
        return b.call(f,[x])
    return emit
UNARY={n:_i(n) for n in ("exp","log","sin","cos")}
BINARY={}
