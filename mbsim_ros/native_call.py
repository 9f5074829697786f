# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Calling compiled kernels from a compiled kernel by the address of their machine code.

A kernel that calls another one the usual way holds a second copy of it, which is compiled once more and, among other
instructions, may round otherwise. One that is given its address runs the very code that Python runs: results agree bit
for bit, and compiling the caller takes as long as the caller alone.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import cgutils


def address_of(kernel: Any, *arguments: Any) -> int:
    """Where the machine code of a kernel for arguments of these types is; it is compiled or loaded where needed."""
    signature = tuple(numba.typeof(each) for each in arguments)
    return address_for(kernel, signature)


def address_for(kernel: Any, signature: tuple[Any, ...]) -> int:
    """The same for types; it stays valid as long as the kernel."""
    kernel.compile(signature)
    compiled = kernel.overloads[signature]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def call_by_address(return_type: Any, address: Any, *types: Any) -> tuple[Any, Any]:
    """What an intrinsic `call(context, address, *types)` returns: it calls what address_of gave for these types.

    The kernel must not raise: what it reports of an exception is not looked at.
    """

    def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        convention = context.call_conv
        function = convention.get_function_type(return_type, types)
        pointer = builder.inttoptr(values[0], function.as_pointer())
        result = cgutils.alloca_once(builder, function.args[0].pointee)
        error = cgutils.alloca_once(builder, function.args[1].pointee)
        builder.store(cgutils.get_null_value(function.args[0].pointee), result)
        passed = context.get_arg_packer(types).as_arguments(builder, values[1:])
        builder.call(pointer, [result, error, *passed])
        return context.get_returned_value(builder, return_type, builder.load(result))

    return return_type(address, *types), code
